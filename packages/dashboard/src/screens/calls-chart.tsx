import { Empty } from '../components/basics.tsx'
import type { Call } from '../data/contract.ts'
import { formatDate, formatTime, t } from '../locales/translate.ts'
import { href } from '../router/route.ts'
import { isFailure } from './outcome.tsx'

const bins = 40
const dayMs = 86_400_000
const [width, height] = [600, 106]

/** Calls from the first that the gateway remembers until now, in bars; failures at the bottom. */
export function CallsChart({ calls }: { readonly calls: readonly Call[] }) {
  const [first] = calls
  if (first === undefined)
    return (
      <Empty title={t('calls.none')}>
        <span>{t('calls.none.hint')}</span>
        <a href={href(['connect'])}>{t('clients.connect')}</a>
      </Empty>
    )
  const start = Date.parse(first.at)
  const span = Math.max(60_000, Date.now() - start + 1)
  const counts = Array.from({ length: bins }, () => ({ ok: 0, bad: 0 }))
  for (const call of calls) {
    const bin = counts[Math.min(bins - 1, Math.floor(((Date.parse(call.at) - start) / span) * bins))]
    if (bin !== undefined) bin[isFailure(call) ? 'bad' : 'ok']++
  }
  const highest = Math.max(1, ...counts.map(({ ok, bad }) => ok + bad))
  const failures = calls.filter(isFailure).length
  const label = t('calls.chart', { count: calls.length, failures, from: formatTime(first.at) })
  return (
    <div>
      <p class="small muted">
        {t('activity.count', { count: calls.length })} · {t('overview.recent.failed', { count: failures })}
      </p>
      <svg class="chart" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {counts.map(({ ok, bad }, index) => {
          const x = (index * width) / bins + 2
          const [good, failed] = [(ok / highest) * 100, (bad / highest) * 100]
          return (
            <g key={`${index}`}>
              <rect class="rest" x={x} y={104} width={width / bins - 4} height={1} />
              <rect class="bar" x={x} y={104 - failed - good} width={width / bins - 4} height={good} />
              <rect class="bad" x={x} y={104 - failed} width={width / bins - 4} height={failed} />
            </g>
          )
        })}
      </svg>
      {/* Not in the picture, which shrinks on small screens. */}
      <div class="row between small muted">
        <span>{span > dayMs ? formatDate(first.at) : formatTime(first.at)}</span>
        <span>{t('calls.chart.now')}</span>
      </div>
    </div>
  )
}
