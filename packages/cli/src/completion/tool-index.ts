import { statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { readRegularFileSync, replaceFile } from '@unfold-mcp/core/files'
import type { KnownFlag, KnownTool } from './candidate.ts'

// Completion data of one cached server: one tab-separated line per tool, so that a tool is found without parsing the others and
// without loading the schema code.
const kind = 'unfold-completion 1'

export interface ToolIndex {
  readonly tools: readonly KnownTool[]
  /** Finds one tool without parsing the others. */
  tool(name: string): KnownTool | undefined
}

/** Undefined if there is no index for the current version of `source`. */
export function readToolIndex(path: string, source: string): ToolIndex | undefined {
  try {
    const text = readRegularFileSync(path).toString('utf8')
    return text.startsWith(`${kind} ${stampOf(source)}\n`) ? parseToolIndex(text) : undefined
  } catch {
    return undefined
  }
}

const parseToolIndex = (text: string): ToolIndex => ({
  get tools() {
    return text.split('\n').slice(1, -1).map(toolOn)
  },
  tool(name) {
    const start = broken.test(name) ? -1 : text.indexOf(`\n${name}\t`)
    return start === -1 ? undefined : toolOn(text.slice(start + 1, text.indexOf('\n', start + 1)))
  },
})

function toolOn(line: string): KnownTool {
  const [name = '', description = '', flags = '[]'] = line.split('\t')
  return {
    name,
    description,
    get flags(): readonly KnownFlag[] {
      return JSON.parse(flags) as readonly KnownFlag[]
    },
  }
}

/** Written atomically. */
export async function writeToolIndex(
  path: string,
  source: string,
  tools: readonly (KnownTool & { readonly flags: readonly KnownFlag[] })[],
): Promise<void> {
  const stamp = stampOf(source)
  const lines = tools
    .filter(({ name }) => !broken.test(name))
    .map(({ name, title, description, flags }) => {
      const about = (title ?? description ?? '').trimStart().split('\n', 1)[0] ?? ''
      return `${name}\t${about.slice(0, maxDescriptionLength).replaceAll('\t', ' ')}\t${JSON.stringify(flags)}`
    })
  await mkdir(path.slice(0, path.lastIndexOf('/')), { recursive: true, mode: 0o700 })
  await replaceFile(path, `${[`${kind} ${stamp}`, ...lines].join('\n')}\n`, { isDurable: false })
}

const maxDescriptionLength = 400
const broken = /[\t\n]/u

/** Changes whenever the file does. */
function stampOf(path: string): string {
  const { mtimeMs, size, ino } = statSync(path)
  return `${mtimeMs}-${size}-${ino}`
}
