import type { CDPSession } from 'playwright-core'

// Playwright does not export the protocol types by name, so they are inferred from its methods.
declare const session: CDPSession

/** Command of the DevTools protocol. */
export type Command = Parameters<typeof session.send>[0]
export type CommandOf<C extends Command> = Parameters<typeof session.send<C>>[1]
export type ResultOf<C extends Command> = Awaited<ReturnType<typeof session.send<C>>>

/** DevTools protocol events that are captured. */
export type CapturedEvent =
  | 'Target.attachedToTarget'
  | 'Target.detachedFromTarget'
  | 'Inspector.targetCrashed'
  | 'Page.frameNavigated'
  | 'Page.navigatedWithinDocument'
  | 'Page.frameRequestedNavigation'
  | 'Page.frameStartedNavigating'
  | 'Page.domContentEventFired'
  | 'Page.javascriptDialogOpening'
  | 'Runtime.executionContextCreated'
  | 'Runtime.executionContextDestroyed'
  | 'Runtime.executionContextsCleared'
  | 'Runtime.bindingCalled'
  | 'Runtime.consoleAPICalled'
  | 'Runtime.exceptionThrown'
  | 'Log.entryAdded'
  | 'Network.requestWillBeSent'
  | 'Network.requestWillBeSentExtraInfo'
  | 'Network.requestServedFromCache'
  | 'Network.responseReceived'
  | 'Network.responseReceivedExtraInfo'
  | 'Network.dataReceived'
  | 'Network.loadingFinished'
  | 'Network.loadingFailed'
  | 'Network.webSocketCreated'
  | 'Network.webSocketHandshakeResponseReceived'
  | 'Network.webSocketFrameSent'
  | 'Network.webSocketFrameReceived'
  | 'Network.webSocketFrameError'
  | 'Network.webSocketClosed'

/** Payload of an event. */
export type EventOf<E extends CapturedEvent> = Parameters<Parameters<typeof session.on<E>>[1]>[0]
