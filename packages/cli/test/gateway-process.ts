import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../../client/test/processes.ts'
import type { Ended, Home } from './command.ts'

export interface GatewayProcess extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  /** Its stderr output. */
  stderr(): string
  /** Stops it, and returns its exit status. */
  end(signal?: NodeJS.Signals): Promise<Ended>
}

/** Starts a gateway process and waits for its startup summary. `args`: more arguments of `unfold serve`. */
export async function startGatewayProcess(at: Home, config: unknown, args: readonly string[] = []): Promise<GatewayProcess> {
  const file = join(at.folder, 'unfold.json')
  if (config !== undefined) await writeFile(file, typeof config === 'string' ? config : JSON.stringify(config))
  let child: Parameters<NonNullable<NonNullable<Parameters<Home['unfold']>[1]>['meanwhile']>>[0] | undefined
  const ended = at.unfold(['serve', '--http', '0', '--json', ...args], { meanwhile: (started) => (child = started) })
  let isOver = false
  void ended.then(() => (isOver = true))
  await until(() => isOver || child?.stderr().includes('Status: unfold status') === true, 'the gateway has started')
  if (isOver) throw new Error((await ended).stderr)
  const { url, pid } = JSON.parse(child?.stdout() ?? '') as { readonly url: string; readonly pid: number }
  const end = (signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> => {
    if (!isOver) child?.kill(signal)
    return ended
  }
  return {
    url,
    pid,
    stderr: () => child?.stderr() ?? '',
    end,
    async [Symbol.asyncDispose]() {
      if (!isOver) child?.kill('SIGKILL')
      await ended
    },
  }
}
