import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts'
import type { Service } from 'kubernetes-types/core/v1.d.ts'
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts'
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts'
import { parse } from 'yaml'
import { run } from '../../packages/cli/test/command.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const typescript = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
const types = dirname(createRequire(import.meta.url).resolve('kubernetes-types/package.json'))

/** Kinds that the manifests may have, with the file of kubernetes-types that declares each. */
const declaredIn = {
  Deployment: 'apps/v1',
  Service: 'core/v1',
  NetworkPolicy: 'networking/v1',
  PodDisruptionBudget: 'policy/v1',
} as const

/** The manifests by their file in `deploy/kubernetes`. */
export interface Manifests {
  readonly deployment: Deployment
  readonly service: Service
  readonly 'network-policy': NetworkPolicy
  readonly 'disruption-budget': PodDisruptionBudget
}

/** Reads a YAML file of the repository. */
export async function readYaml(file: string): Promise<unknown> {
  return parse(await readFile(join(root, file), 'utf8'), { merge: true })
}

export async function readManifest<File extends keyof Manifests>(file: File): Promise<Manifests[File]> {
  return (await readYaml(`deploy/kubernetes/${file}.yaml`)) as Manifests[File]
}

/**
 * Checks objects against the Kubernetes API, without a cluster: as literals of their declared types, so that unknown, missing and
 * wrongly typed fields are errors. Returns the output of the compiler; empty if there are no errors.
 */
export async function typeErrors(objects: readonly { readonly kind?: string | undefined }[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-manifests-'))
  try {
    const lines = objects.map((object, index) => {
      const kind = object.kind ?? ''
      if (!isDeclared(kind)) throw new Error(`No type for kind "${kind}"`)
      return `export const object${index}: import('${join(types, declaredIn[kind])}').${kind} = ${JSON.stringify(object, undefined, 2)}`
    })
    const file = join(folder, 'manifests.ts')
    await writeFile(file, lines.join('\n'))
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--types', '', '--ignoreConfig']
    const { code, stdout, stderr } = await run(process.execPath, [typescript, ...flags, file], { cwd: folder, env: process.env })
    return code === 0 ? '' : stdout + stderr
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const isDeclared = (kind: string): kind is keyof typeof declaredIn => Object.hasOwn(declaredIn, kind)
