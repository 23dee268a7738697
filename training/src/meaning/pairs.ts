import { readdirSync, readFileSync } from 'node:fs'
import type { SearchDocument } from '@unfold-mcp/core'

/** A tool, what people and agents ask for when they need it, and tools that are easily mistaken for it. */
export interface TrainingTool {
  readonly document: SearchDocument
  readonly requests: readonly string[]
  /** Ids of near misses. */
  readonly near: readonly string[]
}

/** Reads the pairs: one Markdown file per domain, with a section for each tool. */
export function readPairs(folder: URL): readonly TrainingTool[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md')
  return files.sort().flatMap((file) => toolsIn(file.slice(0, -'.md'.length), readFileSync(new URL(file, folder), 'utf8')))
}

function toolsIn(domain: string, text: string): readonly TrainingTool[] {
  return text
    .split(/^## /mu)
    .slice(1)
    .map((section) => toolIn(domain, section))
}

function toolIn(domain: string, section: string): TrainingTool {
  const [name = '', ...lines] = section.split('\n').map((line) => line.trim())
  const value = (key: string): string => lines.find((line) => line.startsWith(`${key}: `))?.slice(key.length + 2) ?? ''
  const list = (key: string): readonly string[] =>
    value(key)
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '')
  const isProse = (line: string): boolean => line !== '' && !/^(?:- |server: |params: |near: )/u.test(line)
  const id = (tool: string): string => `${domain}/${tool}`
  return {
    document: {
      id: id(name),
      source: value('server'),
      server: value('server'),
      name,
      description: lines.filter(isProse).join(' '),
      parameters: list('params').map((parameter) => ({ name: parameter })),
    },
    requests: lines.filter((line) => line.startsWith('- ')).map((line) => line.slice(2)),
    near: list('near').map(id),
  }
}
