// Package folder in the cache of npx.
const folder = /(?:[A-Za-z]:)?[/\\][^'"\n]*?[/\\]_npx[/\\][0-9a-f]{6,64}(?=[/\\]|\b)/u
const missing = /Cannot find (?:package|module) '([^']+)'/u
const halfway = /\bENOTEMPTY\b|\bEEXIST\b|ERR_INVALID_PACKAGE_CONFIG|Invalid package config|Unexpected end of JSON input/u

/**
 * Returns the damaged package folder of npx named in the output of a process: a killed installation leaves one behind, and npx
 * never repairs it.
 */
export function damagedNpxFolder(lines: readonly string[]): string | undefined {
  const line = lines.find((each) => /[/\\]_npx[/\\]/u.test(each)) ?? ''
  const [path] = folder.exec(line.replaceAll('file://', '')) ?? []
  if (path === undefined) return undefined
  const text = lines.join('\n')
  const [, name] = missing.exec(text) ?? []
  // A missing file outside the cache says nothing about it.
  const isPackaged = name !== undefined && (!/^(?:[./\\]|[A-Za-z]:)/u.test(name) || name.includes(path))
  return isPackaged || halfway.test(text) ? path : undefined
}
