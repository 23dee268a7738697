import { useState } from 'preact/hooks'
import { t } from '../locales/translate.ts'

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Not available on plain HTTP from another machine.
    return false
  }
}

/** A command to copy. */
export function Command({ text, label = t('command.label') }: { readonly text: string; readonly label?: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  return (
    <div class="command">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long commands scroll, which needs the keyboard too */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for form controls */}
      <code tabIndex={0} role="group" aria-label={label}>
        {text}
      </code>
      <button
        type="button"
        class="tiny"
        onClick={() => void copy(text).then((isCopied) => setState(isCopied ? 'copied' : 'failed'))}
        aria-label={`${t('copy')}: ${text}`}
      >
        {t(state === 'copied' ? 'copied' : state === 'failed' ? 'copy.failed' : 'copy')}
      </button>
      <span class="visually-hidden" role="status">
        {state === 'copied' ? t('copied') : ''}
      </span>
    </div>
  )
}
