import { useState } from 'preact/hooks'
import { unfold } from '../commands/command.ts'
import { Badge, Card, Empty, Loaded, NeedsRole, Screen } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import { Diff } from '../components/diff.tsx'
import { act } from '../components/toasts.tsx'
import { send } from '../data/api.ts'
import type { Approval, ConfigEdit, ReviewItem } from '../data/contract.ts'
import { useMay, useQuery } from '../data/hooks.ts'
import { formatDate, type MessageKey, t } from '../locales/translate.ts'

export function Review() {
  const items = useQuery<readonly ReviewItem[]>('/review', ['trust', 'change'])
  const edits = useQuery<readonly ConfigEdit[]>('/edits', ['config'])
  const approvals = useQuery<readonly Approval[]>('/approvals', ['log', 'call'])
  const [skipped, setSkipped] = useState<ReadonlySet<string>>(new Set())
  const pending = (approvals.data ?? []).filter(({ state }) => state === 'pending')
  const waiting = (items.data ?? []).filter(({ state, digest }) => state !== 'blocked' && !skipped.has(digest))
  const blocked = (items.data ?? []).filter(({ state }) => state === 'blocked')
  const decide = (item: ReviewItem, decision: 'approve' | 'block'): void =>
    void act(
      () => send('POST', '/review', { server: item.server, decision, digests: [item.digest] }),
      t(decision === 'approve' ? 'review.approved' : 'review.blocked.name', { name: nameOf(item) }),
    ).then(items.reload)
  const isEmpty = pending.length + waiting.length + blocked.length + (edits.data ?? []).length === 0
  return (
    <Screen title={t('nav.review')} lead={t('review.lead')} actions={<Command text={unfold('review')} />}>
      <Loaded {...items}>
        {() => (
          <>
            {!isEmpty && <NeedsRole least="reviewer" />}
            {isEmpty && (
              <Card>
                <Empty title={t('review.empty')}>{t('review.empty.hint')}</Empty>
              </Card>
            )}
            {pending.map((approval) => (
              <CallApproval key={approval.id} approval={approval} onDone={approvals.reload} />
            ))}
            {(edits.data ?? []).map((edit) => (
              <Edit key={edit.digest} edit={edit} onDone={edits.reload} />
            ))}
            {serversOf(waiting).map((server) => (
              <Server
                key={server}
                server={server}
                items={waiting.filter((item) => item.server === server)}
                onDecide={decide}
                onSkip={(item) => setSkipped(new Set([...skipped, item.digest]))}
                onDone={items.reload}
              />
            ))}
            {blocked.length > 0 && (
              <Card isFlush title={t('review.blocked')}>
                {blocked.map((item) => (
                  <Definition key={`${item.server} ${item.digest}`} item={item} onDecide={decide} />
                ))}
              </Card>
            )}
          </>
        )}
      </Loaded>
    </Screen>
  )
}

const nameOf = ({ name, kind }: ReviewItem): string => (name === '' ? kind : name)

const serversOf = (items: readonly ReviewItem[]): readonly string[] => [...new Set(items.map(({ server }) => server))]

type Decision = 'approve' | 'block'

interface ServerProps {
  readonly server: string
  readonly items: readonly ReviewItem[]
  readonly onDecide: (item: ReviewItem, decision: Decision) => void
  readonly onSkip: (item: ReviewItem) => void
  readonly onDone: () => void
}

/** The definitions of a server; one decision about all of them if there are several. */
function Server({ server, items, onDecide, onSkip, onDone }: ServerProps) {
  const mayDecide = useMay('reviewer') === true
  const hazards = items.reduce((sum, item) => sum + item.hazards.length, 0)
  const digests = items.map(({ digest }) => digest)
  const decide = (decision: Decision): void =>
    void act(
      () => send('POST', '/review', { server, decision, digests }),
      t(decision === 'approve' ? 'review.approved' : 'review.blocked.name', { name: server }),
    ).then(onDone)
  return (
    <Card
      isFlush
      title={t('review.server', { count: items.length, server })}
      note={t(hazards === 0 ? 'review.server.harmless' : 'review.server.hazards', { count: hazards })}
    >
      {items.length > 1 && (
        <div class="row padded">
          {/* What a rule found must be looked at, so it is not the button to press. */}
          <button type="button" disabled={!mayDecide} class={hazards === 0 ? 'primary' : ''} onClick={() => decide('approve')}>
            {t('review.approve-all')}
            <span class="visually-hidden"> {server}</span>
          </button>
          <button type="button" disabled={!mayDecide} onClick={() => decide('block')}>
            {t('review.block-all')}
            <span class="visually-hidden"> {server}</span>
          </button>
          <Command text={unfold('review', '--approve', server)} />
        </div>
      )}
      {items.map((item) => (
        <Definition key={item.digest} item={item} onDecide={onDecide} onSkip={onSkip} />
      ))}
    </Card>
  )
}

interface DefinitionProps {
  readonly item: ReviewItem
  readonly onDecide: (item: ReviewItem, decision: Decision) => void
  readonly onSkip?: (item: ReviewItem) => void
}

/** One definition: what changed, what the rules found, and the decision. */
function Definition({ item, onDecide, onSkip }: DefinitionProps) {
  const mayDecide = useMay('reviewer') === true
  const name = nameOf(item)
  const isBlocked = item.state === 'blocked'
  return (
    <section class="item stack" aria-label={`${item.server}: ${name}`}>
      <div class="row">
        <h3 class="break">{isBlocked ? `${item.server}: ${name}` : name}</h3>
        <Badge tone={isBlocked ? 'neutral' : 'warn'}>{t(`review.${item.state}`)}</Badge>
        <span class="muted">{t(item.isNew ? 'review.new' : 'review.change', { kind: item.kind })}</span>
      </div>
      {item.hazards.map(({ path, description, advice }) => (
        <p key={path} class="callout warn">
          <strong>{path}</strong> {description}. {advice}
        </p>
      ))}
      <Diff label={t('review.diff', { name })} differences={item.differences} />
      <div class="row">
        <button
          type="button"
          disabled={!mayDecide}
          class={item.hazards.length === 0 ? 'primary' : ''}
          onClick={() => onDecide(item, 'approve')}
        >
          {t('review.approve')}
          <span class="visually-hidden"> {name}</span>
        </button>
        {!isBlocked && (
          <button type="button" disabled={!mayDecide} onClick={() => onDecide(item, 'block')}>
            {t('review.block')}
            <span class="visually-hidden"> {name}</span>
          </button>
        )}
        {onSkip !== undefined && (
          <button type="button" class="plain" onClick={() => onSkip(item)}>
            {t('review.skip')}
            <span class="visually-hidden"> {name}</span>
          </button>
        )}
      </div>
      <div class="row">
        <Command text={unfold('review', '--approve', idOf(item))} />
        {!isBlocked && <Command text={unfold('review', '--block', idOf(item))} />}
      </div>
    </section>
  )
}

/** How the command line names it. */
const idOf = ({ server, kind, name }: ReviewItem): string =>
  kind === 'tool' ? `${server}/${name}` : `${server}/${kind}${name === '' ? '' : `:${name}`}`

function Edit({ edit, onDone }: { readonly edit: ConfigEdit; readonly onDone: () => void }) {
  const mayDecide = useMay('reviewer') === true
  const decide = (decision: 'approve' | 'reject'): void =>
    void act(() => send('POST', '/edits', { [decision]: [edit.digest] }), t('review.edit.decided', { name: edit.path })).then(
      onDone,
    )
  return (
    <Card title={t('review.edit', { name: edit.path })}>
      <div class="stack">
        <Diff label={edit.path} differences={edit.changes} />
        <div class="row">
          <button type="button" disabled={!mayDecide} class="primary" onClick={() => decide('approve')}>
            {t('review.approve')}
          </button>
          {!edit.isRejected && (
            <button type="button" disabled={!mayDecide} onClick={() => decide('reject')}>
              {t('review.reject')}
            </button>
          )}
          <Command text={unfold('review', '--approve', edit.path)} />
          {!edit.isRejected && <Command text={unfold('review', '--block', edit.path)} />}
        </div>
      </div>
    </Card>
  )
}

const labels: { readonly [decision: string]: MessageKey | undefined } = {
  once: 'approval.once',
  session: 'approval.session',
  always: 'approval.always',
  deny: 'approval.deny',
}

function CallApproval({ approval, onDone }: { readonly approval: Approval; readonly onDone: () => void }) {
  const mayDecide = useMay('reviewer') === true
  const { id, decisions = [], askedAt, caller, server, tool, arguments: args } = approval
  const decide = (decision: string): void =>
    void act(() => send('POST', '/approvals', { id, decision }), t('review.call.decided', { tool })).then(onDone)
  return (
    <Card title={t('review.call', { caller, server, tool })}>
      <div class="stack">
        <p class="muted small">{t('review.call.asked', { time: formatDate(askedAt) })}</p>
        <dl class="facts">
          {args.map(({ name, value }) => (
            <>
              <dt>{name}</dt>
              <dd class="break mono">{value}</dd>
            </>
          ))}
        </dl>
        <div class="row">
          {decisions.map((decision) => (
            <button
              key={decision}
              type="button"
              disabled={!mayDecide}
              class={decision === 'once' ? 'primary' : ''}
              onClick={() => decide(decision)}
            >
              {labels[decision] === undefined ? decision : t(labels[decision])}
            </button>
          ))}
        </div>
        <div class="row">
          <Command text={unfold('approvals', 'approve', id)} />
          <Command text={unfold('approvals', 'deny', id)} />
        </div>
      </div>
    </Card>
  )
}
