/** Returns the helper functions that `body` uses, as code. */
export function helperCode(body: string, syntax: 'js' | 'ts'): string {
  const used = Object.entries(helpers).filter(([name]) => body.includes(`${name}(`))
  const needed = `${body}${used.map(([, code]) => code).join('')}`
  return Object.entries(helpers)
    .filter(([name]) => needed.includes(`${name}(`))
    .map(([, code]) => (syntax === 'ts' ? code.replace(typed, '$1') : code.replace(typed, '')))
    .join('\n')
}

// Encloses type annotations, which are removed for JavaScript.
const typed = /‹([^›]*)›/g

const helpers = {
  at: `/** A path of the site as a whole address. */
function at(path‹: string›)‹: string› {
  return new URL(path, base).href
}
`,
  isLike: `/** Whether an address has the origin and the path of another one, where a part that is * may be anything. */
function isLike(address‹: string›, wanted‹: string›)‹: boolean› {
  if (!URL.canParse(address)) return false
  const [is, like] = [new URL(address), new URL(wanted)]
  const parts = is.pathname.split('/')
  const wantedParts = like.pathname.split('/')
  if (is.origin !== like.origin || parts.length !== wantedParts.length) return false
  return wantedParts.every((part, i) => part === '*' || part === parts[i])
}
`,
  one: `/** The element by the first way that finds exactly one: the next gets its turn when one finds many, or none for 3 s. */
async function one(first‹: Locator›, ...others‹: Locator[]›)‹: Promise<Locator>› {
  for (let tries = 0; tries < 100; tries++) {
    for (const way of [first, ...others]) {
      const count = await way.count().catch(() => 0)
      if (count === 1) return way
      if (count === 0 && tries < 30) break
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  // Acting on it says best what is wrong.
  return first
}
`,
  frameAt: `/** The frame of a page that shows such an address. */
async function frameAt(page‹: Page›, wanted‹: string›)‹: Promise<Frame>› {
  for (let tries = 0; tries < 100; tries++) {
    const frame = page.frames().find((each) => isLike(each.url(), wanted))
    if (frame) return frame
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(\`No frame of \${page.url()} shows \${wanted}\`)
}
`,
  contentOf: `/** What a field holds, or a part of the page that can be edited. */
function contentOf(element‹: Locator›)‹: Promise<string>› {
  return element.evaluate((field) => {
    const isField = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement
    return isField ? field.value : (field.textContent ?? '')
  })
}
`,
  says: `/** Whether each of these words can be read on an element or its pictures. */
function says(element‹: Locator›, words‹: string›)‹: Promise<boolean>› {
  return element.evaluate((shown, wanted) => {
    const pictures = [...shown.querySelectorAll('img')].map((picture) => picture.alt)
    const text = [shown.textContent, ...pictures].join(' ')
    return wanted.split(' ').every((word) => text.includes(word))
  }, words)
}
`,
} as const
