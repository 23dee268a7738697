import { parse as parseJson } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { parse as parseYaml } from 'yaml'
import { formatOf } from '../config/document.ts'

/** The values in a configuration that may be secrets: what is written for the environment or headers of a server, and is no reference. */
export function secretsIn(file: string, text: string): readonly string[] {
  return [...new Set(found(parsed(file, text)))]
}

function parsed(file: string, text: string): unknown {
  const format = formatOf(file)
  if (format === 'json') return parseJson(text, [], { allowTrailingComma: true })
  try {
    return format === 'toml' ? parseToml(text) : parseYaml(text)
  } catch {
    return undefined
  }
}

const tables: ReadonlySet<string> = new Set(['env', 'envs', 'environment', 'headers', 'http_headers'])

function found(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    tables.has(key) && typeof inner === 'object' && inner !== null ? Object.values(inner).filter(isSecret) : found(inner),
  )
}

// A word such as "true" hides nothing, and would be taken out of everything else.
const isSecret = (value: unknown): value is string => typeof value === 'string' && !value.includes(`\${`) && value.length > 5
