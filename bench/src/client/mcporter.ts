import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isInstalled, peersFolder } from '../peers/install.ts'

/** The command line that ours is compared with. */
export interface Mcporter {
  readonly version: string
  /** Its entry point. */
  readonly program: string
}

/** The newest version that runs on Node 20: later ones need Node 24. */
const name = Number(process.versions.node.split('.')[0]) >= 24 ? 'mcporter-24' : 'mcporter'

/** Installs mcporter if necessary, with the npm that runs this script; `undefined` if that fails. */
export function installedMcporter(npm: string | undefined): Mcporter | undefined {
  if (!isInstalled(name, npm)) {
    console.error('mcporter is not available: measuring without it.')
    return undefined
  }
  const manifest = new URL(`node_modules/${name}/package.json`, peersFolder)
  const { version, bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string; bin: string | Record<string, string> }
  const path = typeof bin === 'string' ? bin : (bin.mcporter ?? '')
  return { version, program: fileURLToPath(new URL(path, manifest)) }
}
