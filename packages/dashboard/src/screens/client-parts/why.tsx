import { Loaded } from '../../components/basics.tsx'
import { Command } from '../../components/command.tsx'
import { Dialog } from '../../components/dialog.tsx'
import type { Visibility } from '../../data/contract.ts'
import { useQuery } from '../../data/hooks.ts'
import { t } from '../../locales/translate.ts'
import { searchOf, type Who, whyCommand } from './who.ts'

interface WhyProps {
  readonly who: Who
  readonly tool: string
  readonly onClose: () => void
}

/** All checks of a tool in order; the first that fails decides. */
export function Why({ who, tool, onClose }: WhyProps) {
  const why = useQuery<Visibility>(`/why?${searchOf(who, { tool })}`, ['change', 'trust', 'config', 'state'])
  return (
    <Dialog title={why.data === undefined ? tool : titleOf(why.data)} onClose={onClose}>
      <Loaded {...why}>
        {({ reason, next, checks }) => (
          <>
            <p class="callout">{reason}</p>
            <ul class="steps">
              {checks.map(({ check, isPassed, detail }) => (
                <li key={check}>
                  <span class={isPassed ? 'passed' : 'stopped'} aria-hidden="true">
                    {isPassed ? '✓' : '✕'}
                  </span>
                  <span class="break">
                    <strong>{check}</strong> <span class="visually-hidden">{t(isPassed ? 'why.passed' : 'why.stopped')}</span>{' '}
                    {detail}
                  </span>
                </li>
              ))}
            </ul>
            {next !== undefined && (
              <div class="stack tight">
                <div class="small muted">{t('server.next')}</div>
                {next.startsWith('unfold ') ? <Command text={next} label={t('server.next')} /> : <p>{next}</p>}
              </div>
            )}
            <div class="stack tight">
              <div class="small muted">{t('command.label')}</div>
              <Command text={whyCommand(who, tool)} />
            </div>
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

const titleOf = ({ tool, isListed, isUsable }: Visibility): string =>
  t(isListed ? 'why.listed' : isUsable ? 'why.usable' : 'why.hidden', { tool })
