import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Empty } from './basics.tsx'

export interface Column<T> {
  readonly key: string
  readonly title: string
  readonly cell: (row: T) => ComponentChildren
  /** Makes the column sortable. */
  readonly sort?: (row: T) => string | number
  readonly isNumber?: boolean
  readonly hideSmall?: boolean
}

interface TableProps<T> {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly rowKey: (row: T) => string | number
  readonly empty: string
  readonly emptyHint?: ComponentChildren
  readonly isShort?: boolean
}

const rowHeight = 40
const overscan = 8
const virtualFrom = 80

/** A table that scrolls. Beyond 80 rows, only those in view are in the document. */
export function Table<T>({ label, columns, rows, rowKey, empty, emptyHint, isShort = false }: TableProps<T>) {
  const [order, setOrder] = useState<{ readonly key: string; readonly isDescending: boolean }>()
  const sorted = useMemo(() => {
    const by = columns.find(({ key }) => key === order?.key)?.sort
    if (by === undefined) return rows
    const sign = order?.isDescending === true ? -1 : 1
    return rows.toSorted((a, b) => sign * compare(by(a), by(b)))
  }, [rows, columns, order])
  const { box, first, last } = useWindow(sorted.length)
  if (rows.length === 0) return <Empty title={empty}>{emptyHint}</Empty>
  const isVirtual = sorted.length > virtualFrom
  const shown = isVirtual ? sorted.slice(first, last) : sorted
  const classOf = ({ isNumber, hideSmall }: Column<T>): string =>
    `${isNumber === true ? 'right' : ''} ${hideSmall === true ? 'hide-small' : ''}`
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
    <section class={isShort ? 'scroll short' : 'scroll'} ref={box} tabIndex={0} aria-label={label}>
      <table class={isVirtual ? 'virtual' : ''} aria-rowcount={sorted.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                class={classOf(column)}
                aria-sort={order?.key === column.key ? (order.isDescending ? 'descending' : 'ascending') : undefined}
              >
                {column.sort === undefined ? (
                  column.title
                ) : (
                  <button
                    type="button"
                    onClick={() =>
                      setOrder((old) => ({ key: column.key, isDescending: old?.key === column.key && !old.isDescending }))
                    }
                  >
                    {column.title}
                    <span aria-hidden="true">{order?.key === column.key ? (order.isDescending ? '↓' : '↑') : ''}</span>
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {isVirtual && <Spacer rows={first} columns={columns.length} />}
          {shown.map((row, index) => (
            <tr key={rowKey(row)} aria-rowindex={(isVirtual ? first : 0) + index + 2}>
              {columns.map((column) => (
                <td key={column.key} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {isVirtual && <Spacer rows={sorted.length - last} columns={columns.length} />}
        </tbody>
      </table>
    </section>
  )
}

function Spacer({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  if (rows <= 0) return null
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without content cannot be focused
    <tr class="spacer" aria-hidden="true">
      <td colSpan={columns} style={{ height: `${rows * rowHeight}px` }} />
    </tr>
  )
}

/** The rows in view of a box that scrolls. */
function useWindow(count: number) {
  const box = useRef<HTMLElement>(null)
  const [first, setFirst] = useState(0)
  const visible = Math.ceil(700 / rowHeight)
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const update = (): void => setFirst(Math.max(0, Math.floor(element.scrollTop / rowHeight) - overscan))
    update()
    element.addEventListener('scroll', update, { passive: true })
    return () => element.removeEventListener('scroll', update)
  }, [count === 0])
  const start = Math.min(first, Math.max(0, count - visible))
  return { box, first: start, last: Math.min(count, start + visible + 2 * overscan) }
}

const compare = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b))
