/// <reference lib="dom" />
import type { Selectors } from '../../records/records.ts'

/** Sends a report from the page to this server. */
export type SendReport = (report: object) => void

/**
 * Runs in pages: reports user actions, and returns a function that flushes buffered ones. Self-contained, because its source text is
 * sent. Secrets do not leave the page: the value of a secret field is never read.
 */
export function watchActions(send: SendReport, selectorsOf: (element: Element) => Selectors, maxValueLength: number): () => void {
  const typingPauseMs = 1_000
  const scrollPauseMs = 250
  const gestureMs = 2_000
  const keys = /^(?:Enter|Escape|Tab|Arrow(?:Up|Down|Left|Right))$/
  const secretName =
    /pass(?:word|wd|phrase|code)|\bpwd\b|secret|token|\botp\b|one.?time|\bpin\b|cvv|cvc|security.?code|\bcard.?(?:num|no\b)|credit.?card|iban|\bssn\b|social.?sec|api.?key|private.?key/i
  const secretUse = /\bcc-|one-time-code|current-password|new-password/i
  const once = new WeakSet<Element>()
  let typing: { readonly element: Element; readonly timer: number } | undefined
  let scrolling = 0
  let gestureAt = Number.NEGATIVE_INFINITY
  let keyed: { readonly key: string; readonly target: Element; readonly at: number } | undefined
  let untrustedNotice: { readonly control: Element | null; readonly at: number } | undefined

  const attribute = (element: Element, name: string): string => Element.prototype.getAttribute.call(element, name) ?? ''
  const tagOf = (element: Element): string =>
    element instanceof HTMLInputElement
      ? 'input'
      : element instanceof HTMLSelectElement
        ? 'select'
        : element instanceof HTMLTextAreaElement
          ? 'textarea'
          : ''
  const typeOf = (element: Element): string =>
    element instanceof HTMLInputElement
      ? (Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'type')?.get?.call(element) as string)
      : ''
  const isEditable = (element: Element): element is HTMLElement => element instanceof HTMLElement && element.isContentEditable
  const isText = (element: Element): boolean =>
    tagOf(element) === 'textarea' ||
    isEditable(element) ||
    (tagOf(element) === 'input' && !/^(?:checkbox|radio|button|submit|reset|image|file|hidden)$/.test(typeOf(element)))

  /** True if a field is or ever was for a secret: some show a password temporarily. */
  const isSecret = (element: Element): boolean => {
    if (once.has(element)) return true
    const names = ['name', 'id', 'aria-label', 'placeholder', 'data-testid']
      .map((name) => attribute(element, name).slice(0, 200))
      .join(' ')
    const labels =
      element instanceof HTMLInputElement
        ? Array.from(element.labels ?? [], (label) => (label.textContent ?? '').slice(0, 200)).join(' ')
        : ''
    const masked = getComputedStyle(element).getPropertyValue('-webkit-text-security')
    const isOne =
      typeOf(element) === 'password' ||
      secretUse.test(attribute(element, 'autocomplete')) ||
      secretName.test(names) ||
      secretName.test(labels) ||
      (masked !== '' && masked !== 'none')
    if (isOne) once.add(element)
    return isOne
  }
  const chosenIn = (element: Element): string => {
    if (element instanceof HTMLSelectElement) {
      const chosen = Array.from(element.selectedOptions, (option) => option.value || option.text)
      return chosen.join('\n').slice(0, maxValueLength)
    }
    const text =
      element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? element.value : (element.textContent ?? '')
    return text.slice(0, maxValueLength)
  }
  const act = (action: string, element: Element | undefined, more: object = {}): void => {
    send({
      kind: 'action',
      action,
      at: Date.now(),
      url: location.href.slice(0, 8_000),
      ...(element && { selectors: selectorsOf(element) }),
      ...more,
    })
  }
  const typed = (element: Element): void => {
    act('input', element, isSecret(element) ? { secret: true } : { value: chosenIn(element) })
  }
  /** Reports typing as one action when it pauses or another action follows. */
  const endTyping = (): void => {
    if (typing === undefined) return
    const { element, timer } = typing
    typing = undefined
    clearTimeout(timer)
    typed(element)
  }
  const endScrolling = (): void => {
    if (scrolling === 0) return
    clearTimeout(scrolling)
    scrolling = 0
    act('scroll', undefined, { scroll: { x: Math.round(scrollX), y: Math.round(scrollY) } })
  }
  const targetOf = (event: Event): Element | undefined => {
    const [target] = event.composedPath()
    if (target instanceof Element) return target
    return target instanceof Node ? (target.parentElement ?? undefined) : undefined
  }
  /** Returns the element the user means: the button, not the icon in it. */
  const meant = (element: Element): Element => {
    const css =
      'a[href],button,input,select,textarea,label,summary,option,[role="button"],[role="link"],[role="tab"],[role="menuitem"],[data-testid]'
    return Element.prototype.closest.call(element, css) ?? element
  }
  const listen = (names: readonly string[], handle: (event: Event, target: Element) => void): void => {
    for (const name of names) {
      window.addEventListener(
        name,
        (event) => {
          // Ignores synthetic events of the page.
          if (!event.isTrusted) return
          try {
            handle(event, targetOf(event) ?? document.documentElement)
          } catch {
            // Watching must never break a page.
          }
        },
        { capture: true, passive: true },
      )
    }
  }

  listen(['pointerdown', 'mousedown', 'keydown', 'wheel', 'touchmove', 'touchstart'], () => {
    gestureAt = performance.now()
  })

  listen(['click'], (event, target) => {
    if (!(event instanceof MouseEvent)) return
    const element = meant(target)
    const at = event.timeStamp
    // A click on a label also clicks its control, and Enter in a field also clicks the button: report one action.
    if (untrustedNotice !== undefined && untrustedNotice.control === element && at - untrustedNotice.at < 20) return
    if (event.detail === 0 && keyed?.key === 'Enter' && keyed.target !== element && at - keyed.at < 100) return
    endTyping()
    endScrolling()
    const label = element instanceof HTMLLabelElement ? element : null
    if (label !== null) untrustedNotice = { control: label.control, at }
    const control = label?.control ?? element
    // Checkboxes and lists report the choice instead of the click.
    if (/^(?:checkbox|radio)$/.test(typeOf(control)) || tagOf(control) === 'select' || control instanceof HTMLOptionElement)
      return
    act('click', element)
  })

  listen(['input'], (_event, element) => {
    if (!isText(element)) return
    if (typing?.element !== element) endTyping()
    else clearTimeout(typing.timer)
    // Read now, while a password field still is one.
    isSecret(element)
    typing = { element, timer: window.setTimeout(endTyping, typingPauseMs) }
  })

  listen(['change'], (_event, element) => {
    const type = typeOf(element)
    if (type === 'checkbox' || type === 'radio') {
      endTyping()
      act('check', element, { checked: (element as HTMLInputElement).checked })
    } else if (tagOf(element) === 'select') {
      endTyping()
      act('select', element, isSecret(element) ? { secret: true } : { value: chosenIn(element) })
    } else if (type === 'file') {
      act('input', element, { value: chosenIn(element) })
    } else if (typing?.element === element) {
      endTyping()
    }
  })

  listen(['keydown'], (event, element) => {
    if (!(event instanceof KeyboardEvent) || !keys.test(event.key) || event.isComposing) return
    keyed = { key: event.key, target: element, at: event.timeStamp }
    if (event.repeat) return
    const isMany = tagOf(element) === 'textarea' || isEditable(element)
    // In text these move the cursor or end a line, which the value shows.
    if (event.key.startsWith('Arrow') && (isMany || isText(element))) return
    if (event.key === 'Enter' && isMany) return
    // These become clicks.
    if (
      event.key === 'Enter' &&
      Element.prototype.matches.call(element, 'a[href],button,summary,input[type="submit"],input[type="button"]')
    )
      return
    endTyping()
    endScrolling()
    act('key', element === document.body || element === document.documentElement ? undefined : element, { key: event.key })
  })

  listen(['submit'], (_event, form) => {
    // Scripts submit forms too.
    if (performance.now() - gestureAt > gestureMs) return
    endTyping()
    act('submit', form)
  })

  listen(['scroll'], (event) => {
    if (event.target !== document || performance.now() - gestureAt > gestureMs) return
    clearTimeout(scrolling)
    scrolling = window.setTimeout(endScrolling, scrollPauseMs)
  })

  listen(['focusin'], (_event, element) => {
    if (isText(element)) isSecret(element)
  })

  const flush = (): void => {
    endTyping()
    endScrolling()
  }
  listen(['focusout', 'pagehide'], flush)
  return flush
}
