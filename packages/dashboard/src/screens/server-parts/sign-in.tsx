import { useState } from 'preact/hooks'
import { act } from '../../components/toasts.tsx'
import { send } from '../../data/api.ts'
import { useEvents } from '../../data/hooks.ts'
import { t } from '../../locales/translate.ts'

/** The authorization server sends the browser back to the machine of the gateway, so it has to be this one. */
const isSameMachine = (): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u.test(location.hostname)

/** Signs in to a server: its page is a link, so that no blocker of pop-ups is in the way. */
export function ServerSignIn({ name }: { readonly name: string }) {
  const [address, setAddress] = useState<string>()
  const [problem, setProblem] = useState<string>()
  useEvents((events) => {
    const failure = events.find(({ type, level, upstream, data }) => {
      const isSignIn = typeof data === 'object' && data !== null && 'event' in data && data.event === 'sign_in'
      return type === 'log' && level === 'warn' && upstream === name && isSignIn
    })
    if (failure === undefined) return
    setAddress(undefined)
    setProblem(String(failure.message))
  })
  if (!isSameMachine()) return <p class="muted">{t('sign-in.elsewhere')}</p>
  const begin = (): void => {
    setProblem(undefined)
    void act(async () => {
      const { url } = await send<{ readonly url: string }>('POST', `/upstreams/${encodeURIComponent(name)}/sign-in`)
      setAddress(url)
    })
  }
  return (
    <div class="stack" role="status">
      {problem !== undefined && <p class="callout warn">{problem}</p>}
      {address === undefined ? (
        <div class="row">
          <button type="button" class="primary" onClick={begin}>
            {t('sign-in.begin')}
          </button>
        </div>
      ) : (
        <div class="row">
          <a class="button primary" href={address} target="_blank" rel="noreferrer">
            {t('sign-in.open', { host: new URL(address).host })}
          </a>
          <span class="muted">{t('sign-in.waiting')}</span>
        </div>
      )}
    </div>
  )
}
