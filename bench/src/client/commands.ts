import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Contestant, inTurns, type Timing } from '../list/rounds.ts'
import type { Mcporter } from './mcporter.ts'

export const commandNames = {
  node: 'node -e 0',
  help: 'unfold --help',
  complete: 'unfold completion of a tool',
  list: 'unfold list of a stdio server',
  peerHelp: 'mcporter --help',
  peerList: 'mcporter list of a stdio server',
}

const unfold = fileURLToPath(new URL('../../../packages/cli/bundle/main.js', import.meta.url))
const server = fileURLToPath(new URL('servers/small.js', import.meta.url))

/** Measures the run time of our commands, and of the peer's if it is installed. */
export async function timeCommands(rounds: number, peer: Mcporter | undefined): Promise<readonly Timing[]> {
  const home = await mkdtemp(join(tmpdir(), 'unfold-bench-'))
  try {
    const config = join(home, 'servers.json')
    await writeFile(config, JSON.stringify({ mcpServers: { desk: { command: process.execPath, args: [server] } } }))
    const at: Surroundings = { cwd: home, env: { PATH: process.env.PATH, HOME: home, UNFOLD_HOME: join(home, 'unfold') } }
    const list = [unfold, 'list', 'desk', '--config', config]
    // The file that completion reads.
    await ended(list, at)
    const contestants: Contestant[] = [
      { name: commandNames.node, run: () => ended(['-e', '0'], at) },
      { name: commandNames.help, run: () => ended([unfold, '--help'], at) },
      { name: commandNames.complete, run: () => ended([unfold, '__complete', 'bash', 'unfold call desk ', ''], at) },
      { name: commandNames.list, run: () => ended(list, at) },
    ]
    if (peer !== undefined) {
      contestants.push({ name: commandNames.peerHelp, run: () => ended([peer.program, '--help'], at) })
      contestants.push({ name: commandNames.peerList, run: () => ended([peer.program, '--config', config, 'list', 'desk'], at) })
    }
    return await inTurns(contestants, rounds)
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 3 })
  }
}

interface Surroundings {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

const maxMs = 60_000

/** Runs Node and throws its output if it fails. */
async function ended(args: readonly string[], { cwd, env }: Surroundings): Promise<void> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: maxMs })
  let output = ''
  child.stdout.resume()
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text.slice(0, 2_000)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`node ${args.join(' ')} exited with code ${code}: ${output}`)
}
