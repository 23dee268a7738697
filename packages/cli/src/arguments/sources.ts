import { isRecord } from '@unfold-mcp/core'
import { errorMessage } from '../base/error-message.ts'
import { safeText } from '../text/safe.ts'
import { readJson } from './json.ts'
import type { ArgumentProblem } from './problem.ts'
import { setProperty } from './property.ts'
import { type JsonSource, quoted } from './tokens.ts'

export interface ArgumentSources {
  readonly readFile: (path: string) => Promise<string>
  readonly readStdin: () => Promise<string>
  /** Values of `--args` from elsewhere on the command line. */
  readonly values?: readonly string[]
}

export interface JsonArguments {
  readonly args: { readonly [name: string]: unknown }
  readonly problems: readonly ArgumentProblem[]
}

/** Merges all JSON sources; later properties replace earlier ones. */
export async function readJsonSources(
  jsonSources: readonly JsonSource[],
  { readFile, readStdin }: ArgumentSources,
): Promise<JsonArguments> {
  const args = {}
  const problems: ArgumentProblem[] = []
  let hasReadStdin = false
  for (const source of jsonSources) {
    try {
      if (source.text === '-' && hasReadStdin) throw new Error('already read')
      hasReadStdin ||= source.text === '-'
      problems.push(...addJson(args, source, await textOf(source.text, readFile, readStdin)))
    } catch (error) {
      const reason = errorMessage(error)
      problems.push(problemOf(source, `${originOf(source.text)} cannot be read: ${safeText(reason, { limit: 200 })}.`))
    }
  }
  return { args, problems }
}

async function textOf(
  text: string,
  readFile: ArgumentSources['readFile'],
  readStdin: ArgumentSources['readStdin'],
): Promise<string> {
  if (text === '-') return readStdin()
  return text.startsWith('@') ? readFile(text.slice(1)) : text
}

function addJson(args: object, source: JsonSource, text: string): readonly ArgumentProblem[] {
  // Files saved on Windows may begin with a byte order mark.
  const read = readJson(text.replace(/^\uFEFF/u, ''))
  const origin = originOf(source.text)
  if ('problem' in read) return [problemOf(source, `${origin} must be JSON: ${safeText(read.problem, { limit: 200 })}.`)]
  if (!isRecord(read.value)) return [problemOf(source, `${origin} must be a JSON object, such as {"name": "value"}.`)]
  for (const [name, value] of Object.entries(read.value)) setProperty(args, name, value)
  return []
}

const problemOf = ({ position }: JsonSource, message: string): ArgumentProblem => ({
  kind: 'source',
  message,
  nearest: [],
  ...(position === undefined ? {} : { position }),
})

function originOf(text: string): string {
  if (text === '-') return 'Standard input'
  return text.startsWith('@') ? `File ${quoted(text.slice(1))}` : '--args'
}
