import type { Difference, TextPiece } from '../data/contract.ts'
import { t } from '../locales/translate.ts'

/** Two versions side by side, one row per difference. Additions and removals are marked with elements, not with colour alone. */
export function Diff({ label, differences }: { readonly label: string; readonly differences: readonly Difference[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
    <section class="scroll short" tabIndex={0} aria-label={label}>
      <table class="diff">
        <thead>
          <tr>
            <th scope="col" class="path">
              {t('diff.path')}
            </th>
            <th scope="col">{t('diff.before')}</th>
            <th scope="col">{t('diff.after')}</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ path, before, after, words }) => (
            <tr key={path}>
              <td class="path">{path}</td>
              <td>{words === undefined ? <Side value={before} as="del" /> : <Words words={words} without="added" />}</td>
              <td>{words === undefined ? <Side value={after} as="ins" /> : <Words words={words} without="removed" />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Side({ value, as: Mark }: { readonly value: unknown; readonly as: 'ins' | 'del' }) {
  if (value === undefined) return <span class="muted">–</span>
  return <Mark>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</Mark>
}

function Words({ words, without }: { readonly words: readonly TextPiece[]; readonly without: TextPiece['kind'] }) {
  return (
    <>
      {words
        .filter(({ kind }) => kind !== without)
        .map(({ kind, text }, index) => {
          const key = `${index}`
          if (kind === 'added') return <ins key={key}>{text}</ins>
          return kind === 'removed' ? <del key={key}>{text}</del> : <span key={key}>{text}</span>
        })}
    </>
  )
}
