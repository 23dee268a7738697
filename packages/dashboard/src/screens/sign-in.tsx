import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Command } from '../components/command.tsx'
import { Filter } from '../components/filter.tsx'
import { send } from '../data/api.ts'
import { live } from '../data/stream.ts'
import { t } from '../locales/translate.ts'

/** The page of a browser that is not signed in. */
export function SignIn() {
  return (
    <main class="sign-in stack">
      <h1>{t('signin.title')}</h1>
      <SignInForm text={t(location.hash === '#/expired' ? 'signin.expired' : 'signin.text')} />
    </main>
  )
}

/** Over a screen whose session ended. It cannot be closed: the screen behind it shows an old state. */
export function SignInDialog() {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  const show = (): void => element.current?.showModal()
  useEffect(show, [])
  return (
    <dialog ref={element} aria-labelledby={id} onCancel={(event) => event.preventDefault()} onClose={show}>
      <div class="stack">
        <h2 id={id}>{t('signin.again')}</h2>
        <SignInForm text={t('signin.again.text')} />
        <button type="button" onClick={() => live.signIn()}>
          {t('signin.retry')}
        </button>
      </div>
    </dialog>
  )
}

function SignInForm({ text }: { readonly text: string }) {
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState('')
  const signIn = async (): Promise<void> => {
    try {
      await send('POST', '/session', { token: token.trim() })
      live.signIn()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <>
      <p>{text}</p>
      <Command text="unfold ui" />
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault()
          void signIn()
        }}
      >
        <Filter label={t('signin.token')} value={token} onChange={setToken} isSecret />
        {problem !== '' && (
          <p role="alert" class="break">
            {problem}
          </p>
        )}
        <button type="submit" class="primary" disabled={token.trim() === ''}>
          {t('signin.submit')}
        </button>
      </form>
    </>
  )
}
