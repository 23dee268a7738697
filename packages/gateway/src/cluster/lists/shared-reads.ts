import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isTool, type Tool } from '@unfold-mcp/core'
import type { ListReads, UpstreamConnection } from '../../upstreams/connection.ts'
import type { Redis, Script } from '../redis.ts'

// Replicas get the notification of a change one after the other: a read that starts this much later serves all of them.
const settleMs = 250
// A replica that dies during a read delays the others by this much.
const claimMs = 15_000
const waitMs = 20_000
const pollMs = 50
const keepMs = 3_600_000
const maxLength = 4_194_304

const milliseconds = `local time = redis.call('TIME')\nlocal now = time[1] * 1000 + math.floor(time[2] / 1000)`

// A list serves a replica if its read began after the change. Otherwise one replica claims the next read.
// ARGV: age of the change, token of a claim, settleMs, claimMs, keepMs.
const ask: Script = {
  lua: `
${milliseconds}
local at, tools, claimed = unpack(redis.call('HMGET', KEYS[1], 'at', 'tools', 'until'))
if at and tonumber(at) >= now - tonumber(ARGV[1]) then return { 'known', tools } end
if claimed and tonumber(claimed) > now then return { 'wait' } end
local function text(number) return string.format('%.0f', number) end
redis.call('HSET', KEYS[1], 'token', ARGV[2], 'next', text(now + ARGV[3]), 'until', text(now + ARGV[4]))
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return { 'read' }`,
}

// A replica that was suspended has lost its claim: its list may be older than the stored one. ARGV: token, tools or nothing.
const settle: Script = {
  lua: `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'at', redis.call('HGET', KEYS[1], 'next'), 'tools', ARGV[2]) end
redis.call('HDEL', KEYS[1], 'token', 'next', 'until')`,
}

/** After a change, one replica reads the tools of a server, and the others take over what it has read. */
export function sharedReads(redis: Redis): ListReads {
  return {
    async read(server, connection, { changedMs, signal }) {
      const key = `${redis.prefix}follow:${server}`
      const token = randomUUID()
      const begin = performance.now()
      while (performance.now() - begin < waitMs) {
        const age = Math.ceil(changedMs + performance.now() - begin)
        const reply = await redis
          .script(ask, [key], [`${age}`, token, `${settleMs}`, `${claimMs}`, `${keepMs}`])
          .catch(() => undefined)
        const [outcome, text] = Array.isArray(reply) ? (reply as unknown[]) : []
        if (outcome === 'read') return readFor(connection, signal, (tools) => redis.script(settle, [key], [token, tools]))
        const known = outcome === 'known' ? toolsIn(text) : undefined
        if (known !== undefined) {
          connection.adopt?.(known)
          return known
        }
        // Without Redis, or with a damaged value, each replica reads itself.
        if (outcome !== 'wait' || signal?.aborted === true) break
        await pause(pollMs)
      }
      return connection.refresh(signal)
    },
  }
}

async function readFor(
  connection: UpstreamConnection,
  signal: AbortSignal | undefined,
  finish: (tools: string) => Promise<unknown>,
): Promise<readonly Tool[]> {
  let text = ''
  try {
    await pause(settleMs)
    const tools = await connection.refresh(signal)
    text = JSON.stringify(tools)
    return tools
  } finally {
    // Without the result of a failed or very long read, the next replica reads itself.
    await finish(text.length > maxLength ? '' : text).catch(() => undefined)
  }
}

function toolsIn(text: unknown): readonly Tool[] | undefined {
  try {
    const tools: unknown = JSON.parse(String(text))
    return Array.isArray(tools) && tools.every((tool) => isTool(tool)) ? tools : undefined
  } catch {
    return undefined
  }
}
