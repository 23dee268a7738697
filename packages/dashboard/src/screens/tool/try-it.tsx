import { formOf } from '@unfold-mcp/core'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { unfold } from '../../commands/command.ts'
import { Card, NeedsRole } from '../../components/basics.tsx'
import { Command } from '../../components/command.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { type Answer, type CallResult, callTool, type Progress, type Question } from '../../data/calls.ts'
import type { Status } from '../../data/contract.ts'
import { useMay, useQuery } from '../../data/hooks.ts'
import { Fields } from '../../forms/form.tsx'
import { recordOf } from '../../forms/value.ts'
import { formatDuration, t } from '../../locales/translate.ts'
import { Result } from './result.tsx'

interface Schema {
  readonly [keyword: string]: unknown
}

interface Asked {
  readonly question: Question
  readonly answer: (answer: Answer) => void
}

interface Outcome {
  readonly result?: CallResult
  readonly problem?: string
  readonly ms: number
}

/** A schema that only says that the arguments are an object. */
const takesNothing = (schema: Schema): boolean =>
  Object.keys(schema).every((key) => plainKeywords.has(key) || isEmpty(schema[key]))

const plainKeywords = new Set(['type', '$schema', 'title', 'description'])
const isEmpty = (value: unknown): boolean =>
  value === false || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)

/** Calls a tool with arguments from a form. */
export function TryIt({ name, schema }: { readonly name: string; readonly schema: Schema }) {
  const status = useQuery<Status>('/status')
  const mayCall = useMay('operator') === true
  const form = useMemo(() => formOf(schema), [schema])
  const [args, setArgs] = useState<unknown>({})
  const [running, setRunning] = useState<AbortController>()
  const [progress, setProgress] = useState<Progress>()
  const [asked, setAsked] = useState<Asked>()
  const [outcome, setOutcome] = useState<Outcome>()
  const latest = useRef<AbortController | undefined>(undefined)
  latest.current = running
  // A call must not go on when its screen is closed.
  useEffect(() => () => latest.current?.abort(), [])
  const call = async (): Promise<void> => {
    const controller = new AbortController()
    const { signal } = controller
    const startedAt = performance.now()
    const done = (part: Omit<Outcome, 'ms'>): void => setOutcome({ ...part, ms: performance.now() - startedAt })
    setRunning(controller)
    setOutcome(undefined)
    setProgress(undefined)
    try {
      const result = await callTool(name, recordOf(args), {
        signal,
        onProgress: setProgress,
        answer: (question) =>
          new Promise((resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error))
            setAsked({ question, answer: resolve })
          }),
      })
      done({ result })
    } catch (error) {
      done({ problem: signal.aborted ? t('try.cancelled') : error instanceof Error ? error.message : String(error) })
    }
    setAsked(undefined)
    setRunning(undefined)
  }
  const given = recordOf(args)
  const words = Object.keys(given).length === 0 ? [] : ['--args', JSON.stringify(given)]
  return (
    <div class="stack padded">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (running === undefined) void call()
        }}
      >
        {takesNothing(schema) ? (
          <p class="muted">{t('try.no-arguments')}</p>
        ) : (
          <Fields field={{ ...form.root, required: true }} value={args} onChange={setArgs} />
        )}
        <div class="row">
          <button type="submit" class="primary" disabled={running !== undefined || !mayCall}>
            {t('try.call')}
          </button>
          {running !== undefined && (
            <button type="button" onClick={() => running.abort()}>
              {t('try.cancel')}
            </button>
          )}
          {running !== undefined && <Running progress={progress} />}
        </div>
      </form>
      <NeedsRole least="operator" />
      <Command text={unfold('call', status.data?.url ?? '', name, ...words)} />
      {asked !== undefined && (
        <AnswerForm
          question={asked.question}
          onAnswer={(answer) => {
            setAsked(undefined)
            asked.answer(answer)
          }}
        />
      )}
      {outcome?.problem !== undefined && (
        <Card>
          <p role="alert" class="break">
            {outcome.problem}
          </p>
        </Card>
      )}
      {outcome?.result !== undefined && <Result result={outcome.result} ms={formatDuration(outcome.ms)} />}
    </div>
  )
}

function Running({ progress }: { readonly progress: Progress | undefined }) {
  const { progress: value, total, message = '' } = progress ?? { progress: 0 }
  return (
    <span class="row small" role="status">
      {total === undefined ? (
        <span class="muted">{progress === undefined ? t('try.running') : t('try.progress', { value })}</span>
      ) : (
        <progress max={total} value={value} aria-label={t('try.progress.label')} />
      )}
      <span class="muted break">{message}</span>
    </span>
  )
}

/** The question of a server. Closing the dialog is not an answer, so it cancels. */
function AnswerForm({ question, onAnswer }: { readonly question: Question; readonly onAnswer: (answer: Answer) => void }) {
  const { message, url, requestedSchema = { type: 'object' } } = question
  const form = useMemo(() => formOf(requestedSchema), [requestedSchema])
  const [value, setValue] = useState<unknown>({})
  const isAnswered = useRef(false)
  const answer = (next: Answer): void => {
    if (isAnswered.current) return
    isAnswered.current = true
    onAnswer(next)
  }
  return (
    <Dialog title={t('answer.title')} onClose={() => answer({ action: 'cancel' })}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          answer(url === undefined ? { action: 'accept', content: recordOf(value) } : { action: 'accept' })
        }}
      >
        <p class="break lines">{message}</p>
        {url === undefined ? (
          <Fields field={{ ...form.root, required: true }} value={value} onChange={setValue} />
        ) : (
          <>
            <p class="muted">{t('answer.url')}</p>
            <Command text={url} label={t('answer.url.label')} />
          </>
        )}
        <div class="row">
          <button type="submit" class="primary">
            {t('answer.accept')}
          </button>
          <button type="button" onClick={() => answer({ action: 'decline' })}>
            {t('answer.decline')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
