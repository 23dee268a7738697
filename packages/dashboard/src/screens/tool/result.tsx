import { Badge, Empty } from '../../components/basics.tsx'
import { Tabs } from '../../components/tabs.tsx'
import type { CallResult, Content } from '../../data/calls.ts'
import { t } from '../../locales/translate.ts'

type Row = { readonly [column: string]: unknown }

const maxTableRows = 500
const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'])

/** The result of a call as text, table, image and JSON. Everything in it comes from a server. */
export function Result({ result, ms }: { readonly result: CallResult; readonly ms: string }) {
  const rows = rowsIn(result)
  const tabs = [
    { key: 'content', title: t('result.content'), content: () => <Contents content={result.content} /> },
    ...(rows === undefined ? [] : [{ key: 'table', title: t('result.table'), content: () => <ResultTable rows={rows} /> }]),
    { key: 'json', title: t('result.json'), content: () => <Json value={result} /> },
  ]
  return (
    <div class="stack">
      <div class="row" role="status">
        <Badge tone={result.isError === true ? 'fail' : 'ok'}>{t(result.isError === true ? 'result.error' : 'result.ok')}</Badge>
        <span class="muted small">{ms}</span>
      </div>
      <Tabs label={t('result.title')} tabs={tabs} />
    </div>
  )
}

export function Json({ value }: { readonly value: unknown }) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
  return <pre tabIndex={0}>{JSON.stringify(value, null, 2)}</pre>
}

function Contents({ content }: { readonly content: readonly Content[] }) {
  if (content.length === 0) return <Empty title={t('result.empty')} />
  return (
    <div class="stack padded">
      {content.map((block, index) => (
        <Block key={`${index}`} block={block} />
      ))}
    </div>
  )
}

function Block({ block }: { readonly block: Content }) {
  const { type, text, data, mimeType = '', resource } = block
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
  if (text !== undefined) return <pre tabIndex={0}>{readable(text)}</pre>
  if (type === 'image' && data !== undefined && imageTypes.has(mimeType))
    return <img class="result-image" alt={t('result.image')} src={`data:${mimeType};base64,${data}`} />
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
  if (resource?.text !== undefined) return <pre tabIndex={0}>{resource.text}</pre>
  return <Json value={block} />
}

/** JSON in one line is indented; everything else stays as it is. */
function readable(text: string): string {
  if (!/^\s*[[{]/u.test(text) || text.includes('\n')) return text
  const value = parsed(text)
  return value === undefined ? text : JSON.stringify(value, null, 2)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A list of objects in the structured content or the first text: itself, or the only list in an object. */
function rowsIn({ structuredContent, content }: CallResult): readonly Row[] | undefined {
  const value = structuredContent ?? parsed(content.find(({ text }) => text !== undefined)?.text ?? '')
  const lists = Array.isArray(value) ? [value] : isRow(value) ? Object.values(value).filter((each) => Array.isArray(each)) : []
  const [list] = lists
  if (lists.length !== 1 || list === undefined || list.length === 0 || !list.every(isRow)) return undefined
  return list.slice(0, maxTableRows)
}

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

function ResultTable({ rows }: { readonly rows: readonly Row[] }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, 30)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
    <section class="scroll" tabIndex={0} aria-label={t('result.table')}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={`${index}`}>
              {columns.map((column) => (
                <td key={column} class="break">
                  {cellText(row[column])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const cellText = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)
