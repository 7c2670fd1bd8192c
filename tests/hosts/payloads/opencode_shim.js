// gitmem for OpenCode: tells `gitmem hook` what happens, one JSON payload on its standard input for each event.
// The program is the environment's GITMEM_HOOK (a JSON list), else `gitmem hook`. Its failure costs nothing.
import { spawn } from "node:child_process"

const COMMAND = process.env.GITMEM_HOOK ? JSON.parse(process.env.GITMEM_HOOK) : ["gitmem", "hook"]
const WAIT_MS = 3000

function tell(payload) {
  return new Promise((done) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "ignore", "ignore"] })
    const timer = setTimeout(() => child.kill(), WAIT_MS)
    child.on("error", () => done())
    child.on("close", () => (clearTimeout(timer), done()))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Gitmem = async ({ directory }) => {
  const started = new Map()
  const say = (event, session, more) =>
    tell({ host: "opencode", hook_event_name: event, session_id: session, cwd: directory, ...more })
  const TOLD = ["session.created", "session.compacted", "session.idle", "session.deleted"]
  return {
    event: async ({ event }) => {
      const about = event.properties ?? {}
      if (TOLD.includes(event.type)) await say(event.type, about.sessionID ?? about.info?.id)
    },
    "chat.message": async (input, output) => {
      const prompt = output.parts.map((part) => part.text ?? "").join("\n")
      await say("chat.message", input.sessionID, { prompt })
    },
    "tool.execute.before": async (input) => {
      started.set(input.callID, Date.now())
    },
    "tool.execute.after": async (input, output) => {
      const began = started.get(input.callID)
      started.delete(input.callID)
      await say("tool.execute.after", input.sessionID, {
        tool_name: input.tool,
        tool_input: input.args ?? {},
        tool_response: { output: output?.output, metadata: output?.metadata },
        ...(began === undefined ? {} : { duration_ms: Date.now() - began }),
      })
    },
  }
}
