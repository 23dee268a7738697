import { ToolError } from '@unfold-mcp/server'
import { z } from 'zod'
import { severities } from './security-rules.ts'

export const auditSchema = z.object({
  dependencies: z.int(),
  findings: z.array(
    z.object({
      severity: z.enum(severities),
      kind: z.enum([
        'any version',
        'range',
        'address',
        'local',
        'listed twice',
        'deprecated package',
        'deprecated field',
        'install script',
      ]),
      where: z.string().describe('Such as dependencies.left-pad'),
      message: z.string(),
    }),
  ),
  note: z.string(),
})

type Audit = z.infer<typeof auditSchema>
type Finding = Audit['findings'][number]

const sections = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'] as const

const manifestSchema = z.looseObject({
  ...Object.fromEntries(sections.map((section) => [section, z.record(z.string(), z.string()).optional()])),
  scripts: z.record(z.string(), z.string()).optional(),
})

interface Dependency {
  readonly section: (typeof sections)[number]
  readonly name: string
  readonly wanted: string
}

/** Returns the risks of the dependencies in a package.json, worst first. */
export function audit(text: string): Audit {
  const manifest = parsed(text)
  const all = sections.flatMap((section) => {
    return Object.entries((manifest[section] ?? {}) as Record<string, string>).map(
      ([name, wanted]): Dependency => ({ section, name, wanted }),
    )
  })
  const findings = [
    ...all.flatMap(versionFindings),
    ...all.flatMap(packageFindings),
    ...twice(all),
    ...fields(manifest),
    ...scripts(manifest),
  ]
  findings.sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
  return {
    dependencies: all.length,
    findings,
    note: 'Judged from the text alone; npm audit asks the registry about known weaknesses.',
  }
}

function parsed(text: string): z.infer<typeof manifestSchema> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ToolError(`This is not JSON (${(error as Error).message}). Pass the complete text of a package.json.`, {
      cause: error,
    })
  }
  const result = manifestSchema.safeParse(value)
  if (result.success) return result.data
  throw new ToolError(`This is not a package.json: ${z.prettifyError(result.error)}`)
}

/** Kinds of version ranges; the first match applies. */
const forms: readonly { readonly pattern: RegExp; readonly found?: Pick<Finding, 'severity' | 'kind' | 'message'> }[] = [
  { pattern: /^(?:npm:.+@)?=?v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/u },
  { pattern: /^(?:workspace|catalog):/u },
  {
    pattern: /^(?:file|link|portal):/u,
    found: { severity: 'low', kind: 'local', message: 'lies on one machine. Publish it, or make it a workspace.' },
  },
  {
    pattern: /^(?:git\+ssh|git\+https|https|git\+file|ssh):|^(?:github|gitlab|bitbucket|gist):|^[\w.-]+\/[\w.-]+(?:#.*)?$/u,
    found: { severity: 'medium', kind: 'address', message: 'comes from outside the registry. Name a commit, or publish it.' },
  },
  {
    pattern: /^(?:git|http|git\+http):/u,
    found: {
      severity: 'high',
      kind: 'address',
      message: 'is downloaded without encryption; anyone on the network path can change it. Use the registry.',
    },
  },
  {
    pattern: /^(?:npm:.+@)?(?:|\*|x|latest|next|>=?\s*[\d.]+)$/iu,
    found: { severity: 'high', kind: 'any version', message: 'takes whatever is published next. Name a version.' },
  },
]

const range = { severity: 'low', kind: 'range', message: 'takes later versions too. Pin it, or commit a lock file.' } as const

function versionFindings({ section, name, wanted }: Dependency): Finding[] {
  // Peer dependencies should be ranges, because the user of the package chooses the version.
  if (section === 'peerDependencies' && /^[\^~>\d]/u.test(wanted)) return []
  const form = forms.find(({ pattern }) => pattern.test(wanted.trim()))
  const found = form === undefined ? range : form.found
  return found === undefined ? [] : [{ ...found, where: `${section}.${name}`, message: `${name} "${wanted}" ${found.message}` }]
}

/** Some deprecated packages with their replacements. */
const givenUp: { readonly [name: string]: string } = {
  'babel-eslint': '@babel/eslint-parser',
  crypto: 'the crypto module of Node',
  'har-validator': 'a JSON Schema validator',
  'left-pad': 'String.prototype.padStart',
  'node-sass': 'sass',
  'node-uuid': 'crypto.randomUUID',
  querystring: 'URLSearchParams',
  request: 'fetch',
  'request-promise': 'fetch',
  tslint: 'typescript-eslint',
}

function packageFindings({ section, name }: Dependency): Finding[] {
  const instead = Object.hasOwn(givenUp, name) ? givenUp[name] : undefined
  if (instead === undefined) return []
  return [
    {
      severity: 'medium',
      kind: 'deprecated package',
      where: `${section}.${name}`,
      message: `${name} is no longer kept up. Use ${instead}.`,
    },
  ]
}

/** Finds packages in two sections. A peer dependency may also be a development dependency. */
function twice(all: readonly Dependency[]): Finding[] {
  const seen = new Map<string, Dependency>()
  const made: Finding[] = []
  for (const dependency of all) {
    const { section, name, wanted } = dependency
    const first = seen.get(name)
    if (first === undefined) seen.set(name, dependency)
    else if (
      ![first.section, section].includes('peerDependencies') ||
      !all.some((each) => each.name === name && each.section === 'devDependencies')
    ) {
      const message = `${name} is in ${first.section} ("${first.wanted}") and in ${section} ("${wanted}"). Keep one.`
      made.push({
        severity: first.wanted === wanted ? 'low' : 'medium',
        kind: 'listed twice',
        where: `${section}.${name}`,
        message,
      })
    }
  }
  return made
}

const oldFields: { readonly [field: string]: string } = {
  engineStrict: 'npm ignores it. Set engine-strict in .npmrc.',
  preferGlobal: 'npm ignores it. Say in the README how to install.',
  licenses: 'npm reads license alone. Write one SPDX expression there.',
  'jsnext:main': 'Bundlers read exports. Use that.',
  modules: 'Nothing reads it. Use exports.',
}

function fields(manifest: Record<string, unknown>): Finding[] {
  return Object.entries(oldFields)
    .filter(([field]) => Object.hasOwn(manifest, field))
    .map(([where, message]) => ({ severity: 'low', kind: 'deprecated field', where, message: `${where}: ${message}` }))
}

function scripts(manifest: z.infer<typeof manifestSchema>): Finding[] {
  return ['preinstall', 'install', 'postinstall']
    .filter((name) => Object.hasOwn(manifest.scripts ?? {}, name))
    .map((name) => {
      const message = `${name} runs on the machine of everybody who installs the package. Do without it if you can.`
      return { severity: 'medium', kind: 'install script', where: `scripts.${name}`, message }
    })
}
