import type { Io } from '../base/io.ts'
import { type Flags, isSet } from '../grammar/grammar.ts'
import { safeText } from '../text/safe.ts'

interface Report {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

export interface ProgressView {
  report(report: Report): void
  end(): void
}

const barWidth = 24
const everyShare = 0.1

/** A progress bar on a terminal, otherwise one line per 10%; nothing with --quiet or JSON. */
export function progressFor({ stderr }: Io, flags: Flags, what: string): ProgressView {
  if (isSet(flags, 'quiet') || isSet(flags, 'json') || isSet(flags, 'jsonl'))
    return { report: () => undefined, end: () => undefined }
  if (stderr.isTTY !== true) return linesFor(stderr, what)
  let isShown = false
  return {
    report(report) {
      isShown = true
      stderr.write(`\r\u001b[2K${barText(what, report).slice(0, (stderr.columns ?? 80) - 1)}`)
    },
    end() {
      if (isShown) stderr.write('\r\u001b[2K')
      isShown = false
    },
  }
}

function linesFor(stderr: Io['stderr'], what: string): ProgressView {
  let last = Number.NEGATIVE_INFINITY
  return {
    report(report) {
      const share = shareOf(report)
      const step = share === undefined ? report.progress : Math.floor(share / everyShare)
      if (step === last) return
      last = step
      stderr.write(`${barText(what, report, 0)}\n`)
    },
    end: () => undefined,
  }
}

function barText(what: string, report: Report, width = barWidth): string {
  const { progress, total, message } = report
  const share = shareOf(report)
  const full = share === undefined ? 0 : Math.round(share * width)
  const bar = share === undefined || width === 0 ? '' : `${'█'.repeat(full)}${'░'.repeat(width - full)} `
  const amount = share === undefined ? `${progress}` : `${Math.round(share * 100)}% (${progress}/${total})`
  return `${safeText(what)} ${bar}${amount}${message === undefined ? '' : ` ${safeText(message, { limit: 200 })}`}`
}

const shareOf = ({ progress, total }: Report): number | undefined =>
  total === undefined || total <= 0 ? undefined : Math.min(1, Math.max(0, progress / total))
