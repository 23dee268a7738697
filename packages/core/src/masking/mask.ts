import { loadsCode } from '../base/code-variables.ts'
import { secretReferencesIn } from '../base/variables.ts'

const mask = '***'
const secretName = /pass|pwd|secret|token|key|auth|credential|bearer|cookie|session|signature/iu
// bearer_token_env_var contains the name of a variable.
const variableName = /env_?vars?$/iu
const secretValue =
  /^(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|glpat|xox[a-z]|npm|pypi|hf|AKIA|ASIA|AIza|eyJ|github_pat)[-_A-Za-z0-9]|^[A-Za-z0-9+/=_-]{32,}$/u
const reference = /^(?:(?:Bearer|Basic|Token) )?\$\{(?:[\w:]+|(?:keyring|file|command):(?!-)[^{}]*)\}$/iu
const address = /^[a-z][\w+.-]*:\/\//iu

/** Whether a value is a literal secret, not a reference to a variable. */
export const isLiteralSecret = (name: string, value: string): boolean =>
  value !== '' && !value.includes(`\${`) && (isSecretName(name) || looksSecret(value.replace(/^\w+ /u, '')))

export const isSecretName = (name: string): boolean => secretName.test(name) && !variableName.test(name)

/** Masks a value unless it is empty or a reference to a variable. Commands within the value stay visible, because they are run. */
export function masked(value: string): string {
  if (value === '' || reference.test(value)) return value
  const commands = secretReferencesIn(value).filter(({ kind }) => kind === 'command')
  return [mask, ...commands.map(({ text }) => text)].join(' ')
}

/** Masks the value of an environment variable, unless the variable makes programs load code. */
export const maskedVariable = (name: string, value: string): string => (loadsCode(name, value) ? value : masked(value))

/** Masks secrets in command arguments: values of flags, variables and headers, and anything that looks like a secret. */
export const maskedArgs = (args: readonly string[]): readonly string[] =>
  args.map((arg, at) => maskedArg(arg, args[at - 1] ?? ''))

const headerFlag = /^(?:-H|--headers?)$/u
const variableFlag = /^(?:-e|--env)$/u

function maskedArg(arg: string, before: string): string {
  if (headerFlag.test(before)) return maskedHeader(arg)
  if (variableFlag.test(before)) return maskedPair(arg)
  const isValue = /^--?\w/u.test(before) && !before.includes('=') && !/^--\w/u.test(arg)
  return isValue && secretName.test(before) ? masked(arg) : maskedText(arg)
}

/** `name: value` */
function maskedHeader(text: string): string {
  const [, name = '', space = '', value = text] = /^([\w-]+:)(\s*)(.*)$/su.exec(text) ?? []
  return reference.test(value) ? `${name}${space}${value}` : `${name}${masked(value)}`
}

/** `NAME=value` */
function maskedPair(text: string): string {
  const [, name = '', value = ''] = /^([^=]*=)(.*)$/su.exec(text) ?? ['', text]
  return `${name}${maskedVariable(name.slice(0, -1), value)}`
}

/** Masks recognisable secrets in any text. */
export function maskedText(text: string): string {
  if (address.test(text)) return maskedUrl(text)
  const json = /^\s*[[{]/u.test(text) ? maskedJson(text) : undefined
  if (json !== undefined) return json
  const [, flag, value] = /^(--?[\w.-]+|\w+)[=:](.+)$/su.exec(text) ?? []
  if (flag !== undefined && value !== undefined) {
    const start = text.slice(0, text.length - value.length)
    if (headerFlag.test(flag)) return `${start}${maskedHeader(value)}`
    return `${start}${secretName.test(flag) || looksSecret(value) ? masked(value) : maskedText(value)}`
  }
  if (!/\s/u.test(text)) return looksSecret(text) ? mask : inner(text)
  // A complete command line, such as the argument of `sh -c`.
  const parts = inner(text).split(/(\s+)/u)
  const words = maskedArgs(parts.filter((_, at) => at % 2 === 0))
  return parts.map((part, at) => (at % 2 === 0 ? (words[at / 2] ?? '') : part)).join('')
}

// The last one matches connection strings.
const within: readonly RegExp[] = [
  /(?<=\bbearer\s+)(?!\$\{)[^\s"'\\]+/giu,
  /(?<=\bbasic\s+)[A-Za-z0-9+/=_-]{8,}(?![^\s"'\\])/giu,
  /(?<=:\/\/)(?!\$\{)[^\s/?#"'\\]+(?=@)/gu,
  /(?<=\b(?:password|passwd|pwd|secret|token|api[-_]?key|access[-_]?key|accountkey)=)(?!\$\{)[^\s;&"'\\]+/giu,
]
const tokenForms =
  /\b(?:sk-|sk_|pk_|rk_|ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-|xox[a-z]-|npm_|pypi-|hf_|unf_|AKIA|ASIA|AIza|eyJ)(?=[\w-]*\d)[\w.-]{12,}/gu

const inner = (text: string): string => within.reduce((rest, pattern) => rest.replaceAll(pattern, mask), text)

/** Masks secrets recognisable by their form, in a line of any format. */
export const maskedLine = (line: string): string => inner(line).replaceAll(tokenForms, mask)

function maskedJson(text: string): string | undefined {
  try {
    const clean = (key: string, value: unknown): unknown => {
      if (typeof value !== 'string') return value
      return isSecretName(key) ? masked(value) : maskedText(value)
    }
    const parsed: unknown = JSON.parse(text)
    const shown = JSON.stringify(parsed, clean)
    // Keep the original formatting if nothing was masked.
    return shown === JSON.stringify(parsed) ? text : shown
  } catch {
    return undefined
  }
}

// Paths and package names can be long too.
const looksSecret = (text: string): boolean => secretValue.test(text) && !/^[.@~]|\/.*\//u.test(text) && /\d/u.test(text)

/** Masks credentials, query and fragment values, and path segments that look like secrets. */
export function maskedUrl(text: string): string {
  const [whole = '', fragment] = text.split(/#(.*)/su)
  const [start = '', query] = whole.split(/\?(.*)/su)
  const [, scheme = '', user, rest = ''] = /^([a-z][\w+.-]*:\/\/)(?:([^/]*)@)?(.*)$/isu.exec(start) ?? ['', '', undefined, start]
  const path = rest
    .split('/')
    .map((part, index) => (index > 0 && looksSecret(part) ? mask : part))
    .join('/')
  const login = user === undefined ? '' : `${user.split(':').every((part) => reference.test(part)) ? user : mask}@`
  const end = fragment === undefined ? '' : `#${maskedQuery(fragment)}`
  return `${scheme}${login}${path}${query === undefined ? '' : `?${maskedQuery(query)}`}${end}`
}

// `unfold connect` writes these; with asterisks, its diff would not show what it writes.
const viewParameters: ReadonlySet<string> = new Set(['host', 'exposure'])

const maskedQuery = (query: string): string =>
  query
    .split('&')
    .map((pair) => {
      const [name = '', value] = pair.split(/=(.*)/su)
      if (value === undefined) return looksSecret(name) ? mask : name
      return `${name}=${viewParameters.has(name) && /^[a-z][a-z-]{0,30}$/u.test(value) ? value : masked(value)}`
    })
    .join('&')
