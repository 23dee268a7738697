import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Target } from '@unfold-mcp/client'
import { visibleJson } from '../arguments/name.ts'
import { maskedTarget } from '../config/index.ts'
import type { ServerTarget } from '../config/target.ts'

/** A connection target as source code. */
export interface TargetCode {
  readonly text: string
  /** Environment variables that replace possible secrets. */
  readonly variables: readonly string[]
}

/** `name` becomes the prefix of environment variables that have no name of their own. */
export function targetCode(target: Target, name: string): TargetCode {
  if ('server' in target) throw new TypeError('An in-process server cannot be reached from another process.')
  const start = name.replaceAll(/\W+/gu, '_').toUpperCase()
  const variables: string[] = []
  const variable = (label: string): string => {
    const clean = label.replaceAll(/\W+/gu, '_').toUpperCase()
    variables.push(clean)
    return `variable(${visibleJson(clean)})`
  }
  const shown = maskedTarget(plain(target))
  if ('url' in target) {
    const url = 'url' in shown && shown.url === target.url ? visibleJson(target.url) : variable(`${start}_URL`)
    const headers = Object.keys(target.headers ?? {}).map((header) => `${visibleJson(header)}: ${variable(`${start}_${header}`)}`)
    const parts = [`url: ${url}`, ...(headers.length === 0 ? [] : [`headers: { ${headers.join(', ')} }`])]
    return { text: `{ ${parts.join(', ')} }`, variables }
  }
  const masked = 'args' in shown ? (shown.args ?? []) : []
  const args = (target.args ?? []).map((arg, at) => (masked[at] === arg ? visibleJson(arg) : variable(`${start}_ARG_${at + 1}`)))
  const env = Object.keys(target.env ?? {}).map((each) => `${visibleJson(each)}: ${variable(each)}`)
  const parts = [
    `command: ${visibleJson(target.command)}`,
    ...(args.length === 0 ? [] : [`args: [${args.join(', ')}]`]),
    ...(env.length === 0 ? [] : [`env: { ${env.join(', ')} }`]),
    ...(target.cwd !== undefined && dependsOnFolder(target.cwd, [target.command, ...(target.args ?? [])])
      ? [`cwd: ${visibleJson(target.cwd)}`]
      : []),
    ...(target.sandbox === undefined ? [] : [`sandbox: ${visibleJson(target.sandbox)}`]),
  ]
  return { text: `{ ${parts.join(', ')} }`, variables }
}

const plain = (target: Exclude<Target, { readonly server: object }>): ServerTarget =>
  'url' in target
    ? { url: target.url, headers: { ...target.headers } }
    : { command: target.command, args: target.args ?? [], env: { ...target.env } }

/** Whether the command refers to a file in the folder, and so must run there. */
const dependsOnFolder = (folder: string, words: readonly string[]): boolean =>
  words.some(
    (word) => /[./\\]/u.test(word) && !word.startsWith('-') && resolve(word) !== word && existsSync(resolve(folder, word)),
  )
