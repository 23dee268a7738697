/** A server that is started as a process. */
export interface CommandTarget {
  readonly command: string
  readonly args?: readonly string[]
  readonly env?: Record<string, string>
  readonly cwd?: string
}

/** A server that is reached at an address. */
export interface UrlTarget {
  readonly url: string
  readonly headers?: Record<string, string>
  /** `auto`: HTTP as it is now, and the older SSE where a server knows only that. */
  readonly transport?: 'auto' | 'http' | 'sse'
}

/** How to reach a server, as `connect` takes it. */
export type ServerTarget = CommandTarget | UrlTarget

const mask = '***'
const secretName = /pass|secret|token|key|auth|credential|bearer|cookie|session|signature/iu
const secretValue =
  /^(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|glpat|xox[a-z]|npm|pypi|hf|AKIA|ASIA|AIza|eyJ|github_pat)[-_A-Za-z0-9]|^[A-Za-z0-9+/=_-]{32,}$/u
const reference = /^(?:(?:Bearer|Basic|Token) )?\$\{[\w:]+\}$/iu

/** The target as it may be shown: every value that could be a secret is masked, references to variables are not. */
export function maskedTarget(target: ServerTarget): ServerTarget {
  if ('url' in target)
    return {
      ...target,
      url: maskedUrl(target.url),
      ...(target.headers !== undefined && { headers: maskedValues(target.headers) }),
    }
  return {
    ...target,
    ...(target.args !== undefined && { args: maskedArgs(target.args) }),
    ...(target.env !== undefined && { env: maskedValues(target.env) }),
  }
}

/** Whether what is written under this name gives away a secret: it looks like one, and is no reference to a variable. */
export const isOpenSecret = (name: string, value: string): boolean =>
  value !== '' && !value.includes(`\${`) && (secretName.test(name) || looksSecret(value.replace(/^\w+ /u, '')))

const maskedValues = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, masked(value)]))

const masked = (value: string): string => (value === '' || reference.test(value) ? value : mask)

function maskedArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, index) => {
    const [, flag, value] = /^(--?[\w.-]+|\w+)[=:](.+)$/su.exec(arg) ?? []
    if (/^\w+:\/\//u.test(arg)) return maskedUrl(arg)
    if (flag !== undefined && value !== undefined && (secretName.test(flag) || looksSecret(value))) {
      return `${arg.slice(0, arg.length - value.length)}${masked(value)}`
    }
    const before = args[index - 1] ?? ''
    // The value of a flag such as --api-key or --header.
    if (/^--?\w/u.test(before) && !before.includes('=') && (secretName.test(before) || /^(?:-H|--header)$/u.test(before)))
      return masked(arg)
    return looksSecret(arg) ? mask : arg
  })
}

// Paths and package names are long as well.
const looksSecret = (text: string): boolean => secretValue.test(text) && !/^[.@~]|\/.*\//u.test(text) && /\d/u.test(text)

/** The address without what opens doors: user and password, values in the query, and long parts of the path. */
function maskedUrl(text: string): string {
  const [address = '', query] = text.split(/\?(.*)/su)
  const [, scheme = '', user, rest = ''] = /^(\w+:\/\/)(?:([^/@]*)@)?(.*)$/su.exec(address) ?? ['', '', undefined, address]
  const path = rest
    .split('/')
    .map((part, index) => (index > 0 && looksSecret(part) ? mask : part))
    .join('/')
  return `${scheme}${user === undefined ? '' : `${mask}@`}${path}${query === undefined ? '' : `?${maskedQuery(query)}`}`
}

const maskedQuery = (query: string): string =>
  query
    .split('&')
    .map((pair) => {
      const [name = '', value] = pair.split(/=(.*)/su)
      return value === undefined ? (looksSecret(name) ? mask : name) : `${name}=${masked(value)}`
    })
    .join('&')
