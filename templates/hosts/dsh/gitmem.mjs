// gitmem for DeepSeek Harness, written by `gitmem install dsh`; `gitmem uninstall dsh` takes it away.
//
// Tells `gitmem hook` what happens, one JSON payload an event in the form of Claude Code's hooks, and hands on what it
// answers: context goes to the model, the answer to a command to the person, and that prompt goes no further.
// Whatever goes wrong in here, the harness goes on.
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"

const COMMAND = __GITMEM_COMMAND__
const WAIT_MS = 6000
const ANSWER_WAIT_MS = 16000
const MAX_CHARS = 100000

function ask(payload, waitMs = WAIT_MS) {
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
    child.stdin.end(JSON.stringify(payload))
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

const readText = (content) =>
  (content ?? [])
    .filter((block) => block.type === "text")
    .map((block) => block.text)
    .join("")

const readContext = (answer) => {
  const text = answer?.hookSpecificOutput?.additionalContext
  return typeof text === "string" ? text : ""
}

const makeMessage = (text) => ({
  id: randomUUID(),
  role: "user",
  content: [{ type: "text", text }],
  source: { kind: "gitmem" },
})

export const name = "gitmem"

export function apply(ctx) {
  const begun = new Map() // session -> promise of the answer to its start, until that was handed on
  const describe = (agent, event, more) => ({
    session_id: agent?.session?.header?.id ?? "",
    cwd: agent?.session?.header?.cwd ?? process.cwd(),
    hook_event_name: event,
    ...more,
  })

  const begin = (agent, source) => {
    const session = agent.session.header.id
    // A session that goes on is not told of here by every version: its first prompt then tells of it.
    if (!begun.has(session)) begun.set(session, ask(describe(agent, "SessionStart", { source }), ANSWER_WAIT_MS))
    return begun.get(session)
  }

  ctx.on("agent/session-start", ({ agent, source }) => {
    begin(agent, source)
  })

  ctx.on("agent/pre-step", async ({ agent, messages }, next) => {
    const typed = messages.filter((message) => message.source?.kind === "user")
    const prompt = typed.map((message) => readText(message.content)).join("\n")
    if (!prompt.trim()) return next()
    const opening = await begin(agent, "startup")
    const more = { prompt, prompt_id: typed[0].id }
    const answer = await ask(describe(agent, "UserPromptSubmit", more), ANSWER_WAIT_MS)
    // A prompt that is only rejected leaves its person without a word; an error is shown.
    if (answer.decision === "block" && typeof answer.reason === "string") throw new Error(answer.reason)
    begun.set(agent.session.header.id, {})
    const given = [readContext(opening), readContext(answer)].filter(Boolean)
    const entered = await next()
    if (!given.length || entered.kind !== "enter") return entered
    return { kind: "enter", messages: [...entered.messages, makeMessage(given.join("\n\n"))] }
  })

  ctx.on("tools/post-execute", async (exec, result, next) => {
    const more = { tool_name: exec.name, tool_input: exec.arguments, tool_response: readText(result?.content) }
    await ask(describe(exec.agent, "PostToolUse", more))
    return next()
  })

  ctx.on("agent/turn-stopping", async ({ agent }) => {
    await ask(describe(agent, "Stop", {}))
  })
}
