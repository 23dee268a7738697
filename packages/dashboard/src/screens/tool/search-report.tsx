import { Badge, Card, Empty } from '../../components/basics.tsx'
import type { SearchReport as Report } from '../../data/contract.ts'
import { formatPercent, t } from '../../locales/translate.ts'
import { href } from '../../router/route.ts'

const confidences = { strong: 'ok', weak: 'warn', none: 'neutral' } as const

/** What a model gets for a query, and why in this order. */
export function SearchReport({ query, report }: { readonly query: string; readonly report: Report }) {
  const { confidence, certainty, unmatched, total, matches, reply, replyTokens } = report
  const tone = confidences[confidence as keyof typeof confidences] ?? 'neutral'
  return (
    <Card title={t('search.title', { query })}>
      <div class="stack">
        <div class="row" role="status">
          <Badge tone={tone}>{t('search.confidence', { confidence, certainty: formatPercent(certainty) })}</Badge>
          <span class="muted">{t('search.count', { count: matches.length, total })}</span>
          {unmatched.length > 0 && <span class="muted break">{t('search.unmatched', { words: unmatched.join(', ') })}</span>}
        </div>
        {matches.length === 0 ? (
          <Empty title={t('search.none')}>{t('search.none.hint')}</Empty>
        ) : (
          <ol class="matches">
            {matches.map(({ name, upstream, score, isNamed, why }) => (
              <li key={name}>
                <div class="row between">
                  <a class="break" href={href(['tools', name])}>
                    {name}
                  </a>
                  <span class="row small">
                    {isNamed && <Badge tone="info">{t('search.named')}</Badge>}
                    <span class="muted">{upstream}</span>
                    <span class="right">{score.toFixed(2)}</span>
                  </span>
                </div>
                <div class="meter" aria-hidden="true">
                  <span style={{ width: `${Math.min(100, score * 100)}%` }} />
                </div>
                <p class="small muted break">{reasonsOf(why)}</p>
              </li>
            ))}
          </ol>
        )}
        <details>
          <summary>{t('search.reply', { count: replyTokens })}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
          <pre tabIndex={0}>{reply}</pre>
        </details>
      </div>
    </Card>
  )
}

/** Each word with what it matched and its share of the score. */
function reasonsOf(why: Report['matches'][number]['why']): string {
  if (why === undefined || why.words.length === 0) return t('search.by-meaning')
  const words = why.words.map(({ word, term, via, fields, worth }) =>
    t('search.word', {
      word: word === term ? word : `${word} → ${term}`,
      via: via === 'literal' ? '' : `, ${via}`,
      fields: fields.join(', '),
      worth: formatPercent(worth),
    }),
  )
  const boost = why.boost === 1 ? [] : [t('search.boost', { factor: why.boost.toFixed(2) })]
  return [...words, ...boost].join(' · ')
}
