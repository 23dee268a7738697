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

function CopyIcon({ isCopied }: { readonly isCopied: boolean }) {
  return (
    <svg width="14" height="14" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">
      <path d={isCopied ? 'M3 8.5l3.5 3.5L13 5' : 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3'} />
    </svg>
  )
}

/** A command to copy. */
export function Command({ text, label = t('command.label') }: { readonly text: string; readonly label?: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  return (
    <div class={text.startsWith('unfold ') ? 'command shell' : 'command'}>
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
        title={t('copy')}
      >
        {state === 'failed' ? t('copy.failed') : <CopyIcon isCopied={state === 'copied'} />}
      </button>
      <span class="visually-hidden" role="status">
        {state === 'copied' ? t('copied') : ''}
      </span>
    </div>
  )
}
