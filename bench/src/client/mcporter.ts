import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isInstalled, peersFolder } from '../peers/install.ts'

/** The command line beside which ours is measured. */
export interface Mcporter {
  readonly version: string
  /** The file that Node runs. */
  readonly program: string
}

/** The newest that runs on this Node: later ones want Node 24. */
const name = Number(process.versions.node.split('.')[0]) >= 24 ? 'mcporter-24' : 'mcporter'

/** Installs it where it is not yet, by the script of the npm that runs us; nothing when that cannot be. */
export function installedMcporter(npm: string | undefined): Mcporter | undefined {
  if (!isInstalled(name, npm)) {
    console.error('mcporter could not be installed; measuring without it.')
    return undefined
  }
  const manifest = new URL(`node_modules/${name}/package.json`, peersFolder)
  const { version, bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string; bin: string | Record<string, string> }
  const path = typeof bin === 'string' ? bin : (bin.mcporter ?? '')
  return { version, program: fileURLToPath(new URL(path, manifest)) }
}
