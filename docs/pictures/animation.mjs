const cell = { width: 8, height: 19 }
const fontSize = 13.3
const margin = 16
const header = 34
const typing = { startSeconds: 0.6, secondsPerCharacter: 0.032, outputAfterSeconds: 0.4, markAfterSeconds: 0.9 }

const themes = {
  light: {
    ...{
      window: '#ffffff',
      header: '#eaeef2',
      border: '#d0d7de',
      text: '#1f2328',
      title: '#424a53',
      prompt: '#0550ae',
      button: '#afb8c1',
      mark: '#fff1b8',
    },
    colours: ['#24292f', '#b3261e', '#116329', '#7d4e00', '#0550ae', '#6639ba', '#1b6b76', '#57606a'],
  },
  dark: {
    ...{
      window: '#161b22',
      header: '#252b33',
      border: '#30363d',
      text: '#d7dde4',
      title: '#aab3bd',
      prompt: '#79c0ff',
      button: '#4b535d',
      mark: '#4a3f12',
    },
    colours: ['#7d8590', '#ff7b72', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#c9d1d9'],
  },
}

/**
 * An animated SVG of a terminal that shows one scene after the other. A scene has a title and commands; a command has the text that is
 * typed, its output as lines of cells and the seconds that it stays before the next. Lines that match `marked` get a
 * background. Without animation the first scene is shown.
 */
export function animation({ columns, title, description, scenes, marked }) {
  const rows = Math.max(...scenes.map(({ commands }) => commands.reduce((sum, command) => sum + rowsOf(command) + 1, -1)))
  const width = columns * cell.width + 2 * margin
  const height = header + rows * cell.height + 2 * margin
  const { timed, duration } = timeline(scenes)
  const rules = []
  const drawn = timed.map((scene, index) => drawnScene({ scene, index, width, duration, rules, marked }))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t d">
<title id="t">${escaped(title)}</title>
<desc id="d">${escaped(description)}</desc>
<style>
text { white-space: pre; font: ${fontSize}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; fill: var(--text) }
.heading { font: 13px system-ui, "DejaVu Sans", sans-serif; fill: var(--title) }
.bold, .command { font-weight: 600 } .dim { opacity: .7 } .prompt { fill: var(--prompt) }
rect.mark { fill: var(--mark) } .cover { fill: var(--window) } .cursor { fill: var(--text) }
${themes.light.colours.map((_, at) => `.c${at} { fill: var(--c${at}) }`).join(' ')}
svg { ${variables(themes.light)} }
@media (prefers-color-scheme: dark) { svg { ${variables(themes.dark)} } }
.typing, .later { visibility: hidden }
@media (prefers-reduced-motion: no-preference) {
${rules.join('\n')}
}
</style>
<clipPath id="w"><rect width="${width - 2}" height="${height}"/></clipPath>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="9" fill="var(--window)" stroke="var(--border)"/>
<path d="M1 ${header}V10a9 9 0 0 1 9-9H${width - 10}a9 9 0 0 1 9 9V${header}z" fill="var(--header)"/>
<g fill="var(--button)"><circle cx="19" cy="17" r="5.5"/><circle cx="37" cy="17" r="5.5"/><circle cx="55" cy="17" r="5.5"/></g>
${drawn.join('\n')}
</svg>
`
}

/** Adds to every scene and command when it starts and ends, in seconds. */
function timeline(scenes) {
  let now = 0
  const timed = scenes.map((scene) => {
    const start = now
    const commands = scene.commands.map((command) => {
      const typed = now + typing.startSeconds
      const entered = typed + command.text.length * typing.secondsPerCharacter
      const shown = entered + typing.outputAfterSeconds
      const before = now
      now = shown + command.seconds
      return { ...command, before, typed, entered, shown }
    })
    return { ...scene, start, end: now, commands }
  })
  return { timed, duration: now }
}

function drawnScene({ scene, index, width, duration, rules, marked }) {
  const at = (seconds) => `${Number(((100 * seconds) / duration).toFixed(2))}%`
  /** Shows the elements of a class between two moments only. */
  const visible = (name, from, to) => {
    const hidden = 'visibility: hidden'
    const frames = [
      from > 0 && `0% { ${hidden} }`,
      `${at(from)} { visibility: visible }`,
      to < duration && `${at(to)} { ${hidden} }`,
    ]
    const steps = [...frames.filter(Boolean), `100% { ${to < duration ? hidden : 'visibility: visible'} }`]
    rules.push(
      `.${name} { animation: ${name} ${duration.toFixed(2)}s step-end infinite }`,
      `@keyframes ${name} { ${steps.join(' ')} }`,
    )
  }
  const later = index === 0 ? '' : ' later'
  let row = 0
  const parts = scene.commands.map((command, place) => {
    const id = `${index}${place}`
    const top = row
    row += rowsOf(command) + 1
    visible(`p${id}`, command.before, scene.end)
    visible(`o${id}`, command.shown, scene.end)
    visible(`y${id}`, command.before, command.shown)
    const { length } = command.text
    const covers = `${at(command.typed)} { transform: none; animation-timing-function: steps(${length}) }`
    const uncovered = `transform: translateX(${length * cell.width}px)`
    rules.push(
      `.x${id} { animation: x${id} ${duration.toFixed(2)}s step-end infinite }`,
      `@keyframes x${id} { 0% { transform: none } ${covers} ${at(command.entered)} { ${uncovered} } 100% { ${uncovered} } }`,
    )
    const x = margin + 2 * cell.width
    const y = header + margin + top * cell.height
    const rest = width - x - 2
    const marks = command.lines.flatMap((line, offset) => {
      const text = textOf(line)
      return marked.test(text) ? [drawnMark(top + 1 + offset, text.length)] : []
    })
    if (marks.length > 0) visible(`m${id}`, command.shown + typing.markAfterSeconds, scene.end)
    return [
      `<g class="p${id}${later}">${drawnText(0, top, '$', 'prompt')}${drawnText(2, top, command.text, 'command')}</g>`,
      `<g class="y${id} typing" clip-path="url(#w)"><g class="x${id}"><rect class="cover" x="${x}" y="${y}" width="${rest}" height="${cell.height}"/><rect class="cursor" x="${x}" y="${y + 2}" width="${cell.width}" height="${cell.height - 4}"/></g></g>`,
      ...(marks.length > 0 ? [`<g class="m${id}${later}">${marks.join('')}</g>`] : []),
      `<g class="o${id}${later}">${command.lines.map((line, offset) => drawnLine(top + 1 + offset, line)).join('')}</g>`,
    ].join('\n')
  })
  visible(`s${index}`, scene.start, scene.end)
  return `<text class="heading s${index}${later}" x="${width / 2}" y="22" text-anchor="middle">${escaped(scene.title)}</text>\n${parts.join('\n')}`
}

/** A line of cells in pieces of one style, without blanks at the ends of a piece. */
function drawnLine(row, cells) {
  const pieces = []
  for (const [column, { character, style }] of cells.entries()) {
    const last = pieces.at(-1)
    if (last?.style === style) last.text += character
    else pieces.push({ column, style, text: character })
  }
  return pieces
    .filter(({ text }) => text.trim() !== '')
    .map(({ column, style, text }) => drawnText(column + text.search(/\S/u), row, text.trim(), classesOf(style)))
    .join('')
}

function drawnText(column, row, text, classes) {
  const x = margin + column * cell.width
  const y = header + margin + row * cell.height + 14
  const named = classes === '' ? '' : ` class="${classes}"`
  // With the length of the text, columns are aligned whichever font is used.
  return `<text${named} x="${x}" y="${y}" textLength="${text.length * cell.width}" lengthAdjust="spacingAndGlyphs">${escaped(text)}</text>`
}

function drawnMark(row, length) {
  const y = header + margin + row * cell.height
  return `<rect class="mark" x="${margin - 5}" y="${y}" width="${length * cell.width + 10}" height="${cell.height}" rx="4"/>`
}

/** Text of a line of cells, without blanks at its end. */
export function textOf(cells) {
  return cells
    .map(({ character }) => character)
    .join('')
    .trimEnd()
}

function classesOf({ colour, bold, dim }) {
  return [bold && 'bold', dim && 'dim', colour !== undefined && `c${colour % 8}`].filter(Boolean).join(' ')
}

function rowsOf({ lines }) {
  return 1 + lines.length
}

function variables({ colours, ...names }) {
  const numbered = colours.map((colour, at) => [`c${at}`, colour])
  return [...Object.entries(names), ...numbered].map(([name, colour]) => `--${name}: ${colour}`).join('; ')
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
