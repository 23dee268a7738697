import { spawn } from 'node:child_process'
import type { Io } from './io.ts'

/** Opens a URL in the browser without a shell; false when no browser could be started. */
export function openAddress({ href }: URL, { env, platform }: Pick<Io, 'env' | 'platform'>): Promise<boolean> {
  const [command, ...args] = opener(env, platform)
  return new Promise((resolve) => {
    const child = spawn(command ?? '', [...args, href], { stdio: 'ignore', detached: platform !== 'win32' })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

function opener(env: Io['env'], platform: NodeJS.Platform): readonly string[] {
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  if (env.BROWSER !== undefined && env.BROWSER !== '') return [env.BROWSER]
  return [platform === 'darwin' ? 'open' : 'xdg-open']
}
