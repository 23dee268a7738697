import { z } from 'zod'
import { type FunctionFound, functionsOf } from './functions.ts'
import type { Source } from './source.ts'

export const documentationSchema = z.object({
  skeletons: z.array(
    z.object({
      name: z.string(),
      beforeLine: z.int().describe('The line that the comment goes before'),
      comment: z.string(),
    }),
  ),
  documented: z.array(z.string()).describe('Functions that have a comment already'),
})

type Documentation = z.infer<typeof documentationSchema>

/** Generates doc comment templates for exported functions without one; with `all`, for all functions. */
export function document(source: Source, all: boolean): Documentation {
  const wanted = functionsOf(source).filter((found) => all || found.exported)
  const done = wanted.filter((found) => isDocumented(source, found))
  const make = source.language === 'python' ? docstring : jsdoc
  return {
    skeletons: wanted.filter((found) => !done.includes(found)).map((found) => make(source, found)),
    documented: done.map(({ name }) => name),
  }
}

function isDocumented({ language, text, lines }: Source, { line, body }: FunctionFound): boolean {
  if (language === 'python') return /^\s*[rRuU]?("""|'''|"|')/u.test(text.slice(body[0], body[0] + 1_000))
  const above = lines.slice(0, line - 1).findLast((each) => !/^\s*(?:@.*)?$/u.test(each))
  return above?.trimEnd().endsWith('*/') === true
}

function jsdoc({ lines }: Source, { name, line, parameters, returns }: FunctionFound): Documentation['skeletons'][number] {
  const indent = indentOf(lines[line - 1])
  const rows = [
    sentenceFrom(name),
    ...parameters.map((parameter) => `@param ${parameter} TODO`),
    ...(returns ? ['@returns TODO'] : []),
  ]
  const comment = [`${indent}/**`, ...rows.map((row) => `${indent} * ${row}`), `${indent} */`].join('\n')
  return { name, beforeLine: line, comment }
}

function docstring(source: Source, { name, line, parameters, body, returns }: FunctionFound): Documentation['skeletons'][number] {
  const indent = `${indentOf(source.lines[line - 1])}    `
  const rows = [
    `"""${sentenceFrom(name)}`,
    ...(parameters.length > 0 ? ['', 'Args:', ...parameters.map((parameter) => `    ${parameter}: TODO`)] : []),
    ...(returns ? ['', 'Returns:', '    TODO'] : []),
    '"""',
  ]
  return { name, beforeLine: source.lineAt(body[0]) + 1, comment: rows.map((row) => (row === '' ? '' : indent + row)).join('\n') }
}

const indentOf = (line = ''): string => line.slice(0, line.length - line.trimStart().length)

/** Derives a sentence from a name: `readUserFile` and `read_user_file` become "Read user file." */
function sentenceFrom(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/gu, '$1 $2')
    .replace(/[_#$]+/gu, ' ')
    .trim()
    .toLowerCase()
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}
