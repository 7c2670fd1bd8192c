// gitmem for OpenCode, written by `gitmem install opencode`; `gitmem uninstall opencode` takes it away.
//
// Tells `gitmem hook` what happens, one JSON payload an event, and hands on what it answers: {"context": text} goes to
// the model behind the prompt, {"answer": text} is shown to the person, and that prompt goes no further.
// Whatever goes wrong in here, OpenCode goes on.
import { spawn } from "node:child_process"

const COMMAND = __GITMEM_COMMAND__
const WAIT_MS = 6000
const ANSWER_WAIT_MS = 16000
const MAX_CHARS = 100000

function ask(payload, waitMs) {
  return new Promise((done) => {
    let said = ""
    const child = spawn(COMMAND[0], COMMAND.slice(1), {
      cwd: payload.cwd,
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    })
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      done({})
    }, waitMs)
    const finish = () => (clearTimeout(timer), done(parseAnswer(said)))
    child.on("error", finish)
    child.on("close", finish)
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (part) => {
      if (said.length <= MAX_CHARS) said += part
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ host: "opencode", ...payload }))
  }).catch(() => ({}))
}

function parseAnswer(said) {
  if (said.length > MAX_CHARS) return {}
  try {
    return JSON.parse(said) ?? {}
  } catch {
    return {}
  }
}

// What a person typed: neither what OpenCode adds to it nor what is shown to people alone.
const readTyped = (parts) =>
  parts
    .filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
    .map((part) => part.text)
    .join("\n")

// Thrown on purpose: the one way to keep a prompt from the model.
class Answered extends Error {}

const calm =
  (hook) =>
  async (...given) => {
    try {
      await hook(...given)
    } catch (error) {
      if (error instanceof Answered) throw error
    }
  }

export const Gitmem = async ({ client, directory }) => {
  const begun = new Map() // session -> promise of its first answer; told again after a compaction
  const parents = new Map() // session of a subagent -> session of the person
  const commands = new Map() // session -> the slash command whose text comes next
  const started = new Map() // call of a tool -> when

  const tell = (event, session, more, waitMs = WAIT_MS) =>
    ask(
      {
        hook_event_name: event,
        session_id: parents.get(session) ?? session,
        cwd: directory,
        ...(parents.has(session) ? { agent_id: session } : {}),
        ...more,
      },
      waitMs,
    )
  const begin = (session, source) => {
    begun.set(session, tell("session.created", session, { source }, ANSWER_WAIT_MS))
  }
  const show = async (session, message, text) => {
    const { agent, model } = message
    const parts = [{ type: "text", text, ignored: true }]
    await client.session.prompt({ path: { id: session }, body: { noReply: true, agent, model, parts } })
  }

  const onEvent = {
    "session.created": (session, info) => {
      if (info?.parentID) parents.set(session, parents.get(info.parentID) ?? info.parentID)
      else if (!begun.has(session)) begin(session, "startup")
    },
    "session.compacted": async (session) => {
      await tell("session.compacted", session)
      if (!parents.has(session)) begin(session, "compact")
    },
    "session.idle": (session) => (parents.has(session) ? undefined : tell("session.idle", session)),
    "session.deleted": async (session) => {
      if (!parents.has(session)) await tell("session.deleted", session)
      for (const kept of [begun, parents, commands]) kept.delete(session)
    },
  }

  const hooks = {
    event: async ({ event }) => {
      const about = event.properties ?? {}
      const session = about.sessionID ?? about.info?.id
      if (session) await onEvent[event.type]?.(session, about.info)
    },

    "command.execute.before": async ({ sessionID, command }) => {
      commands.set(sessionID, command)
    },

    "chat.message": async ({ sessionID }, { message, parts }) => {
      const typed = readTyped(parts)
      if (!typed.trim()) return
      // The text of a slash command was not typed: under its name it is never taken for a command of the person's.
      const command = commands.get(sessionID)
      commands.delete(sessionID)
      if (!begun.has(sessionID) && !parents.has(sessionID)) begin(sessionID, "resume")
      const opening = await begun.get(sessionID)
      begun.set(sessionID, {})
      const prompt = command === undefined ? typed : `/${command}\n${typed}`
      const { context, answer } = await tell("chat.message", sessionID, { prompt, prompt_id: message.id }, ANSWER_WAIT_MS)
      const given = [opening?.context, context].filter((text) => typeof text === "string" && text)
      if (typeof answer === "string" && answer) {
        if (opening?.context) begun.set(sessionID, opening) // for the prompt that does reach the model
        await show(sessionID, message, `${typed.trim()}\n\n${answer}`).catch(() => {})
        throw new Answered(answer)
      }
      const last = parts.at(-1)
      // OpenCode sorts parts by their id.
      if (given.length) parts.push({ ...pick(last), id: `${last.id}z`, text: given.join("\n\n") })
    },

    "tool.execute.before": async ({ callID }) => {
      started.set(callID, Date.now())
    },

    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const began = started.get(callID)
      started.delete(callID)
      await tell("tool.execute.after", sessionID, {
        tool_name: tool,
        tool_input: args ?? {},
        tool_response: { output: output?.output, metadata: output?.metadata },
        ...(began === undefined ? {} : { duration_ms: Date.now() - began }),
      })
    },
  }
  return Object.fromEntries(Object.entries(hooks).map(([name, hook]) => [name, calm(hook)]))
}

const pick = ({ messageID, sessionID }) => ({ messageID, sessionID, type: "text", synthetic: true })
