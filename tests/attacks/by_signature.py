"""Attempts on what people sign: other keys, other statements, old ones, and none at all. Only in vaults with keys."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

from gitmem.model.human_key import HumanKey
from gitmem.model.ids import Fingerprint, RecordId, fingerprint, new_record_id
from gitmem.model.signing import DOMAIN, Declared, Signed, Statement
from gitmem.vault.home_settings import load_settings, save_settings
from gitmem.vault.layout import HomeLayout
from gitmem.vault.statement import STATEMENT, format_canonical, format_signed, parse_signed

from attack_ground import MARK, PERSON, Scene, build, declared_note

_TOOLS = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


def list_key(scene: Scene) -> None:
    """Make a key for the person, and have the vault list it."""
    file = make_key(scene.home.parent / "pat")
    home = HomeLayout(str(scene.home))
    save_settings(home, replace(load_settings(home), signing_key=file))
    with scene.open() as memory:
        memory.add_key(file, "pat", PERSON)


def make_key(file: Path) -> str:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", file.name, "-f", str(file)], check=True, env=_TOOLS
    )
    return str(file)


def sign(key_file: str, data: bytes, namespace: str = DOMAIN) -> str:
    done = subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-q", "-n", namespace, "-f", key_file],
        input=data,
        capture_output=True,
        check=True,
        env=_TOOLS,
    )
    return done.stdout.decode()


def _current(scene: Scene) -> Signed:
    return parse_signed((scene.repo / STATEMENT).read_bytes())


def _put(scene: Scene, statement: Statement, signature: str) -> None:
    (scene.repo / STATEMENT).write_bytes(format_signed(Signed(statement, signature)))
    scene.commit("declare: it")


def _smuggle(scene: Scene) -> Declared:
    """Put a declared note into the baseline, and return it as a statement would list it."""
    import hashlib

    one, path = new_record_id(), "baseline/note.md"
    scene.write(path, declared_note(one))
    data = (scene.repo / path).read_bytes()
    return Declared(RecordId(one), path, hashlib.sha256(data).hexdigest(), Fingerprint(fingerprint(data)))


def _with_one_more(scene: Scene) -> Statement:
    statement = _current(scene).statement
    declared = sorted((*statement.declared, _smuggle(scene)), key=lambda one: one.path)
    return replace(statement, declared=tuple(declared))


def _next(scene: Scene) -> Statement:
    from gitmem.vault.statement import digest_of

    before = _current(scene).statement
    return replace(_with_one_more(scene), counter=before.counter + 1, previous=digest_of(before))


def _mallory(scene: Scene) -> str:
    return make_key(scene.home.parent / "mallory")


def _public(key_file: str, name: str) -> HumanKey:
    return HumanKey(name, " ".join(Path(f"{key_file}.pub").read_text().split()[:2]))


def own_key_signs(scene: Scene) -> None:
    """a statement that lists a note of the attacker's, signed with the attacker's key"""
    statement = _next(scene)
    _put(scene, statement, sign(_mallory(scene), format_canonical(statement)))


def own_key_in_the_manifest(scene: Scene) -> None:
    """the same, with the attacker's key in the manifest and the statement, under the person's name"""
    file = _mallory(scene)
    key = _public(file, "pat")
    manifest = json.loads(scene.read("manifest.json"))
    manifest["human_keys"] = [{"name": key.name, "key": key.key}]
    scene.write("manifest.json", json.dumps(manifest, indent=2) + "\n")
    statement = replace(_next(scene), keys=(key,))
    _put(scene, statement, sign(file, format_canonical(statement)))


def own_key_beside(scene: Scene) -> None:
    """the attacker's key listed beside the person's, in the manifest and in a statement that the attacker signs"""
    file = _mallory(scene)
    keys = tuple(sorted((*_current(scene).statement.keys, _public(file, "zoe")), key=lambda one: one.name))
    manifest = json.loads(scene.read("manifest.json"))
    manifest["human_keys"] = [{"name": key.name, "key": key.key} for key in keys]
    scene.write("manifest.json", json.dumps(manifest, indent=2) + "\n")
    statement = replace(_next(scene), keys=keys)
    _put(scene, statement, sign(file, format_canonical(statement)))


def listed_under_an_old_signature(scene: Scene) -> None:
    """a note of the attacker's added to what the person signed, the signature left as it is"""
    _put(scene, _with_one_more(scene), _current(scene).signature)


def counted_up_under_an_old_signature(scene: Scene) -> None:
    """the same with the counter and the chain continued"""
    signature = _current(scene).signature
    _put(scene, _next(scene), signature)


def left_out_under_an_old_signature(scene: Scene) -> None:
    """the boundary left out of what the person signed, and its file removed"""
    signed = _current(scene)
    (scene.repo / scene.true_path).unlink()
    kept = tuple(one for one in signed.statement.declared if one.path != scene.true_path)
    _put(scene, replace(signed.statement, declared=kept), signed.signature)


def signature_for_git(scene: Scene) -> None:
    """a signature of the person's key that was made for Git and not for gitmem"""
    statement = _next(scene)
    _put(scene, statement, sign(str(scene.home.parent / "pat"), format_canonical(statement), "git"))


def statement_of_another_vault(scene: Scene) -> None:
    """a statement that the person signed in another vault with the same key"""
    other = build(scene.home.parent / "second")
    home = HomeLayout(str(other.home))
    save_settings(home, replace(load_settings(home), signing_key=str(scene.home.parent / "pat")))
    with other.open() as memory:
        memory.add_key(str(scene.home.parent / "pat"), "pat", PERSON)
        from gitmem.model.record import Draft, Kind

        made = memory.declare(Draft(MARK, kind=Kind.BOUNDARY), PERSON).records[0]
    for path in (made.path, STATEMENT):
        scene.write(path, other.read(path))
    scene.commit("declare: it")


def old_statement(scene: Scene) -> None:
    """an older statement of the person's put back, in which a boundary stands that was retired since"""
    commits = scene.git("log", "--format=%H", "--", STATEMENT).split()
    older = commits[1]
    assert "ask-olga" in scene.git("show", f"{older}:{STATEMENT}")
    scene.git("checkout", older, "--", STATEMENT, "baseline")
    scene.commit("x")


def old_branch(scene: Scene) -> None:
    """the branch reset to that older statement's commit"""
    scene.git("reset", "--quiet", "--hard", scene.git("log", "--format=%H", "--", STATEMENT).split()[1])


def another_branch_signed_before(scene: Scene) -> None:
    """a branch off the older statement's commit with more commits than the person's own, in its place"""
    scene.git("checkout", "--quiet", "-B", "main", scene.git("log", "--format=%H", "--", STATEMENT).split()[1])
    for number in range(5):
        scene.write(f"observations/{number}.md", "plain\n")
        scene.commit(f"{number}")


def statement_removed(scene: Scene) -> None:
    """statement.json removed, and a declared note put beside it"""
    _smuggle(scene)
    (scene.repo / STATEMENT).unlink()
    scene.commit("x")


def keys_removed(scene: Scene) -> None:
    """the keys taken out of the manifest, statement.json removed, and a receipt of a person's forged for the commit"""
    from by_files import _forge_receipt

    one = _smuggle(scene)
    manifest = json.loads(scene.read("manifest.json"))
    manifest.pop("human_keys")
    scene.write("manifest.json", json.dumps(manifest, indent=2) + "\n")
    (scene.repo / STATEMENT).unlink()
    _forge_receipt(scene, one.id, one.path, scene.commit("x"))


def name_twice(scene: Scene) -> None:
    """a statement file in which the list stands twice, first the attacker's and then the signed one"""
    one = _smuggle(scene)
    text = scene.read(STATEMENT)
    member = json.dumps({one.path: {"id": one.id, "sha256": one.sha256, "blob": one.blob}})
    scene.write(STATEMENT, text.replace('"declared": {', f'"declared": {member},\n  "declared": {{', 1))
    scene.commit("x")


def git_configuration(scene: Scene) -> None:
    """Git told that the attacker's key is the person's, and that another program looks at signatures"""
    statement = _next(scene)
    file = _mallory(scene)
    signers = scene.write("../signers", f"{PERSON.email} {_public(file, 'x').key}\n")
    yes = scene.write("../yes", "#!/bin/sh\nexit 0\n")
    yes.chmod(0o755)
    for name, value in (("gpg.ssh.allowedSignersFile", str(signers)), ("gpg.ssh.program", str(yes))):
        scene.git("config", name, value)
    _put(scene, statement, sign(file, format_canonical(statement)))


def other_ssh_keygen(scene: Scene) -> None:
    """another ssh-keygen, which finds every signature good, first on the search path"""
    statement = _next(scene)
    folder = scene.home.parent / "bin"
    folder.mkdir()
    yes = folder / "ssh-keygen"
    yes.write_text("#!/bin/sh\nexit 0\n")
    yes.chmod(0o755)
    _put(scene, statement, sign(_mallory(scene), format_canonical(statement)))
    done = scene.gitmem("context", PATH=f"{folder}:{os.environ['PATH']}")
    from attack_ground import find_mark

    assert find_mark(done.stdout) != "declared"


def key_with_a_line_of_its_own(scene: Scene) -> None:
    """a key in the manifest and the statement that brings a line for the list of signers along"""
    file = _mallory(scene)
    own = _public(file, "x").key
    manifest = json.loads(scene.read("manifest.json"))
    manifest["human_keys"][0]["key"] += f"\ngitmem {own}"
    scene.write("manifest.json", json.dumps(manifest, indent=2) + "\n")
    statement = _next(scene)
    _put(scene, statement, sign(file, format_canonical(statement)))


def renamed_boundary(scene: Scene) -> None:
    """another text under the path and the id of the signed boundary"""
    scene.write(scene.true_path, declared_note(scene.true))
    scene.commit("x")


def own_signing_key_in_the_settings(scene: Scene) -> None:
    """the home's settings name the attacker's key, and the model's surface declares"""
    home = HomeLayout(str(scene.home))
    save_settings(home, replace(load_settings(home), signing_key=_mallory(scene)))
    assert scene.gitmem("declare", MARK, "--kind", "boundary").returncode == 5


def signing_as_the_model(scene: Scene) -> None:
    """the person's key lies open, and the model's surface declares, adopts and accepts"""
    scene.write("baseline/note.md", declared_note())
    assert scene.gitmem("declare", MARK, "--kind", "boundary").returncode == 5
    assert scene.gitmem("adopt", "baseline/note.md").returncode == 5
    assert scene.gitmem("--human", "adopt", ".").returncode == 5


ATTEMPTS = (
    own_key_signs,
    own_key_in_the_manifest,
    own_key_beside,
    listed_under_an_old_signature,
    counted_up_under_an_old_signature,
    left_out_under_an_old_signature,
    signature_for_git,
    statement_of_another_vault,
    old_statement,
    old_branch,
    another_branch_signed_before,
    statement_removed,
    keys_removed,
    name_twice,
    git_configuration,
    other_ssh_keygen,
    key_with_a_line_of_its_own,
    renamed_boundary,
    own_signing_key_in_the_settings,
    signing_as_the_model,
)
