import { homedir } from 'node:os'
import { relative } from 'node:path'
import type { Sandbox } from '@unfold-mcp/client'
import { absolutePath } from '../../base/absolute-path.ts'
import type { Config, SandboxConfig } from '../schema.ts'

/** What the gateway adds to the sandboxes of its servers. */
export type SandboxBase = Pick<Sandbox, 'hide' | 'installs'>

interface SandboxSettings extends Exclude<SandboxConfig, string> {
  readonly preset: Extract<SandboxConfig, string>
}

/** Settings of a server, which replace those of the file; only the preset is inherited. */
export function sandboxSettings(own: SandboxConfig | undefined, all: Config['sandbox']): SandboxSettings {
  const file = settings(all)
  if (own === undefined) return file
  return { ...settings(own, file.preset) }
}

function settings(sandbox: SandboxConfig, preset: SandboxSettings['preset'] = 'none'): SandboxSettings {
  return typeof sandbox === 'string' ? { preset: sandbox, read: [], write: [] } : { ...sandbox, preset: sandbox.preset ?? preset }
}

/** The sandbox of a server, with absolute paths; `undefined` for none. A working directory that it names is readable. */
export function sandboxOf(
  { preset, read, write, network }: SandboxSettings,
  { folder, cwd, ...base }: SandboxBase & { readonly folder: string; readonly cwd: string | undefined },
): Sandbox | undefined {
  if (preset === 'none') return undefined
  const absolute = (path: string): string => absolutePath(folder, path)
  // The home folder has to be named in `read`.
  const own = cwd === undefined || !relative(cwd, homedir()).startsWith('..') ? [] : [cwd]
  return {
    preset,
    read: [...read.map(absolute), ...own],
    write: write.map(absolute),
    ...(network !== undefined && { network }),
    ...base,
  }
}
