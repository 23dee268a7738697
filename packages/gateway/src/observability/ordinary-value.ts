// Short parts count only as whole parts, because of names such as KEYBOARD, SHIPPING and PWD.
const secretName =
  /token|secret|passw|passphrase|credential|api_?key|private|bearer|oauth|cookie|(?:^|[_-])(?:key|keys|pass|pw|pin|otp|auth|salt|dsn|jwt|pat|sid|sas)(?:[_-]|$)|[_-]pwd(?:[_-]|$)/iu

const isSecretName = (name: string): boolean => secretName.test(name)

const ordinaryNames = new Set([
  ...['path', 'home', 'pwd', 'user', 'logname', 'shell', 'term', 'lang', 'language', 'tz', 'tmpdir', 'temp', 'tmp', 'hostname'],
  ...['node_env', 'node_options', 'node_path', 'node_extra_ca_certs', 'npm_config_cache', 'npm_config_registry', 'pythonpath'],
  ...['debug', 'log_level', 'loglevel', 'log_format', 'rust_log', 'no_color', 'force_color', 'ssl_cert_file', 'ssl_cert_dir'],
  ...['accept', 'accept-language', 'accept-encoding', 'content-type', 'user-agent'],
])
const ordinaryPrefix = /^(?:LC|XDG)_/iu
const ordinarySuffix =
  /(?:^|[_-])(?:env|environment|region|zone|locale|language|level|mode|format|host|hostname|port|timeout|dir|directory|folder|path|root|version|encoding|charset|timezone|name|provider|model)$/iu

const ordinaryWords = new Set([
  ...['true', 'false', 'enabled', 'disabled', 'enable', 'disable', 'always', 'never', 'default', 'optional', 'required'],
  ...['production', 'development', 'staging', 'testing', 'preview', 'sandbox', 'release', 'canary', 'nightly', 'stable', 'local'],
  ...['verbose', 'warning', 'notice', 'critical', 'silent', 'trace', 'detailed', 'compact', 'pretty', 'structured'],
  ...['public', 'internal', 'global', 'regional', 'primary', 'secondary', 'readonly', 'read-only', 'readwrite', 'read-write'],
  ...['localhost', 'memory', 'sqlite', 'postgres', 'postgresql', 'mysql', 'mariadb', 'mongodb', 'redis', 'docker', 'podman'],
  ...['chromium', 'chrome', 'firefox', 'webkit', 'headless', 'headful', 'desktop', 'mobile', 'system', 'strict', 'manual'],
  ...['english', 'german', 'french', 'spanish', 'utf-8', 'unlimited', 'infinity', 'minimal', 'standard', 'streamable-http'],
])

/**
 * True for a value that is no secret although a configuration passes it to a server, such as `production` or a path. Redacting it
 * would make logs unreadable. Anything that could be random is not ordinary, and nothing is under the name of a secret.
 */
export function isOrdinaryValue(name: string, value: string): boolean {
  if (isSecretName(name)) return false
  const text = value.trim()
  if (ordinaryNames.has(name.toLowerCase()) || ordinaryPrefix.test(name)) return true
  if (ordinaryWords.has(text.toLowerCase()) || /^[+-]?\d{1,10}(?:\.\d{1,6})?[a-z]{0,2}$/iu.test(text)) return true
  if (isPlainUrl(text) || isPlainPath(text)) return true
  return ordinarySuffix.test(name) && text.split(/[\s,;:/]+/u).every(isPlainPart)
}

// Shorter values occur in results by chance.
const minSecretLength = 8

/**
 * True for a value that is certainly a secret: one that looks random, or that has the name of a secret and is not an ordinary word or
 * path. Results are masked with these only, because a wrong match would change what a tool returns.
 */
export function isCertainSecret(name: string, value: string): boolean {
  const text = value.trim()
  if (text.length < minSecretLength || isOrdinaryValue('', text)) return false
  return isSecretName(name) || !text.split(/[\s,;:/]+/u).every(isPlainPart)
}

/** Without credentials or parameters. Some services put a secret into the path, so its parts are checked too. */
function isPlainUrl(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\//iu.test(text) || !URL.canParse(text)) return false
  const { username, password, search, hash, host, pathname } = new URL(text)
  return username + password + search + hash === '' && `${host}${pathname}`.split(/[/:]/u).every(isPlainPart)
}

const isPlainPath = (text: string): boolean =>
  /^(?:~|\.{1,2}|[A-Za-z]:)?[\\/]/u.test(text) && text.split(/[\\/:;]/u).every(isPlainPart)

const maxWordLength = 16

/** True for text that consists of words and short numbers, such as `eu-central-1`, `node-v20.19.0` and `mcpServers`. */
const isPlainPart = (part: string): boolean =>
  /^[\p{L}\p{M}\d ._@~[\]-]*$/u.test(part) && part.split(/[ ._@~[\]-]+/u).every(isPlainChunk)

function isPlainChunk(chunk: string): boolean {
  if (chunk.length <= 4 || /^\d{1,8}$/u.test(chunk)) return true
  // A random text changes case and between letters and digits every other character.
  const words = chunk.replace(/\d{1,4}$/u, '').match(/\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+|\p{Lu}+|\d+/gu) ?? []
  return words.every((word) => word.length >= 3 && word.length <= maxWordLength && /^\D+$/u.test(word) && isPronounceable(word))
}

const isPronounceable = (word: string): boolean => word.length <= 4 || !/^[a-z]+$/iu.test(word) || /[aeiouy]/iu.test(word)
