import { useState } from 'preact/hooks'
import { Command } from '../components/command.tsx'
import { Filter } from '../components/filter.tsx'
import { send } from '../data/api.ts'
import { live } from '../data/stream.ts'
import { t } from '../locales/translate.ts'

export function SignIn() {
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
    <main class="sign-in stack">
      <h1>{t('signin.title')}</h1>
      <p>{t(location.hash === '#/expired' ? 'signin.expired' : 'signin.text')}</p>
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
    </main>
  )
}
