// Edits CHANGELOG.md, as pure functions on its text.

/** Categories of Keep a Changelog, in their usual order. */
export const categories = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']

const unreleased = '## [Unreleased]'

/** Returns the changelog with everything unreleased, and `entries`, moved to a section for `version`. */
export function withRelease(text, { version, date, entries }) {
  const start = text.indexOf(`${unreleased}\n`)
  if (start === -1) throw new Error(`CHANGELOG.md has no line "${unreleased}"`)
  const from = start + unreleased.length
  const to = endOfSection(text, from)
  const section = categories.reduce(
    (body, category) =>
      withEntries(
        body,
        category,
        entries.filter((each) => each.category === category),
      ),
    text.slice(from, to),
  )
  return `${text.slice(0, from)}\n\n## [${version}] - ${date}\n\n${section.trim()}\n${text.slice(to).replace(/^\n*(?=.)/, '\n')}`
}

/** Returns the text of the section for `version`, or undefined if there is none. */
export function notesOf(text, version) {
  const heading = text.indexOf(`\n## [${version}]`)
  if (heading === -1) return undefined
  const from = text.indexOf('\n', heading + 1)
  return text.slice(from, endOfSection(text, from)).trim()
}

function endOfSection(text, from) {
  const next = text.indexOf('\n## ', from)
  return next === -1 ? text.length : next + 1
}

function withEntries(body, category, entries) {
  if (entries.length === 0) return body
  const lines = entries.map(({ entry }) => `- ${entry.replaceAll(/\n(?=.)/g, '\n  ')}\n`).join('')
  const heading = body.indexOf(`\n### ${category}\n`)
  if (heading === -1) return `${body.trimEnd()}\n\n### ${category}\n\n${lines}`
  const next = body.indexOf('\n### ', heading + 1)
  const end = next === -1 ? body.length : next
  return `${body.slice(0, end).trimEnd()}\n${lines}${body.slice(end)}`
}
