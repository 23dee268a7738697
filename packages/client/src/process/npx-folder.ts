// The folder of one set of packages in the cache of npx.
const folder = /(?:[A-Za-z]:)?[/\\][^'"\n]*?[/\\]_npx[/\\][0-9a-f]{6,64}(?=[/\\]|\b)/u
const missing = /Cannot find (?:package|module) '([^']+)'/u
const halfway = /\bENOTEMPTY\b|\bEEXIST\b|ERR_INVALID_PACKAGE_CONFIG|Invalid package config|Unexpected end of JSON input/u

/**
 * The folder of npx that lacks a part of what was installed, by what a process wrote before it ended: an installation that was
 * killed leaves one behind, and npx never repairs it. `undefined` when nothing shows that.
 */
export function damagedNpxFolder(lines: readonly string[]): string | undefined {
  const line = lines.find((each) => /[/\\]_npx[/\\]/u.test(each)) ?? ''
  const [found] = folder.exec(line.replaceAll('file://', '')) ?? []
  if (found === undefined) return undefined
  const text = lines.join('\n')
  const [, name] = missing.exec(text) ?? []
  // A file of the user's own that is not there says nothing about the cache.
  const isPart = name !== undefined && (!/^(?:[./\\]|[A-Za-z]:)/u.test(name) || name.includes(found))
  return isPart || halfway.test(text) ? found : undefined
}
