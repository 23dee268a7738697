import { z } from 'zod'
import { functionsOf } from './functions.ts'
import { languages, type Source } from './source.ts'

export const analysisSchema = z.object({
  language: z.enum(languages),
  lines: z.object({ total: z.int(), code: z.int(), comment: z.int(), blank: z.int() }),
  imports: z.array(z.object({ module: z.string(), line: z.int() })),
  classes: z.array(z.object({ name: z.string(), line: z.int() })),
  functions: z.array(
    z.object({
      name: z.string(),
      line: z.int(),
      lines: z.int(),
      parameters: z.array(z.string()),
      exported: z.boolean(),
      nesting: z.int().describe('How deep blocks lie in each other'),
      complexity: z.int().describe('Cyclomatic complexity, estimated from keywords and operators'),
    }),
  ),
})

export type Analysis = z.infer<typeof analysisSchema>

/** Structure of a source text. */
export function analyze(source: Source): Analysis {
  const functions = functionsOf(source).map(({ name, line, endLine, parameters, exported, nesting, complexity }) => {
    return { name, line, lines: endLine - line + 1, parameters: [...parameters], exported, nesting, complexity }
  })
  return { language: source.language, lines: linesOf(source), imports: importsOf(source), classes: classesOf(source), functions }
}

function linesOf({ text, code }: Source): Analysis['lines'] {
  // A trailing line break does not start a new line.
  const lines = text.replace(/\n$/u, '').split('\n')
  const codeLines = code.split('\n')
  const blank = lines.filter((line) => line.trim() === '').length
  const comment = lines.filter((line, index) => line.trim() !== '' && codeLines[index]?.trim() === '').length
  return { total: lines.length, code: lines.length - blank - comment, comment, blank }
}

const javascriptImport = /\b(?:from|import|require)\s*\(?\s*(['"])([^'"\n]+)\1/gu
const pythonImport = /^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w., \t]+))/gmu

function importsOf({ language, code, lineAt }: Source): Analysis['imports'] {
  if (language !== 'python') {
    return [...code.matchAll(javascriptImport)].map((match) => ({ module: match[2] ?? '', line: lineAt(match.index) }))
  }
  return [...code.matchAll(pythonImport)].flatMap((match) => {
    const names = match[1] ?? match[2] ?? ''
    return names.split(',').map((name) => ({ module: name.trim().split(/\s/u)[0] ?? '', line: lineAt(match.index) }))
  })
}

function classesOf({ language, bare, lineAt }: Source): Analysis['classes'] {
  const pattern = language === 'python' ? /^[ \t]*class[ \t]+(\w+)/gmu : /(?<![.\w$])class\s+([\w$]+)/gu
  return [...bare.matchAll(pattern)].map((match) => ({ name: match[1] ?? '', line: lineAt(match.index) }))
}
