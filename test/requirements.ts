/** Transports and eras on which a requirement is tested; `none` if no client takes part. */
export type TransportSet = 'every' | 'session' | 'stateless' | 'http' | 'http session' | 'http stateless' | 'none'

/** One promise of the project. */
export interface Requirement {
  readonly id: string
  readonly behaviour: string
  readonly transports: TransportSet
}

/**
 * The promises of the project. Tests print `id` and `behaviour` as their title; tests of attacks have their own title, which contains the
 * id. The letter of an id is its area:
 *
 * - A: discovery of tools
 * - B: invalid input
 * - C: identity of a tool list, and the command line
 * - D: tool changes of a gateway's upstream servers, on every upstream transport
 * - E: lazy mode
 * - F: regressions reported by users of other servers
 * - G: the two protocol eras
 * - H: behaviour of real hosts, as measured by the host lab
 * - K: library settings in `unfold.json`
 * - L: lazy mode and search, by section of their specification
 * - M: several replicas of a gateway
 * - N: shares of clients
 * - P: declarations, handlers and replies
 * - Q: policy of calls
 * - R: groups, views, transports and permissions, by section of the first specification
 * - S: tools that follow the data
 * - T: trust in definitions
 * - U: starting the upstream servers of a gateway
 * - V: single-server endpoints of a gateway
 * - W: output and warnings of `unfold preview`
 * - X: the dashboard
 * - Y: scripts
 */
export const requirements = [
  { id: 'A01', transports: 'session', behaviour: 'a new session lists only the activators and the tools that are always shown' },
  {
    id: 'A02',
    transports: 'every',
    behaviour: 'calling a hidden tool returns the same bytes as calling a tool that does not exist',
  },
  { id: 'A03', transports: 'session', behaviour: 'activating a group lists its tools and makes them callable' },
  {
    id: 'A04',
    transports: 'session',
    behaviour: 'an activation notifies the client that made it exactly once, and no other client',
  },
  { id: 'A05', transports: 'session', behaviour: 'deactivating a group removes its tools from the list' },
  {
    id: 'A06-1',
    transports: 'session',
    behaviour: 'of two groups that exclude each other, the one activated last stays active, in either order',
  },
  { id: 'A06-2', transports: 'session', behaviour: 'a group deactivated by an exclusion deactivates its child groups too' },
  { id: 'A07-1', transports: 'session', behaviour: 'activating a child before its parent fails and names what to call first' },
  { id: 'A07-2', transports: 'session', behaviour: 'deactivating a parent deactivates its children' },
  {
    id: 'A07-3',
    transports: 'session',
    behaviour: 'a grandchild needs every ancestor, and is deactivated with the first ancestor that is',
  },
  { id: 'A08-1', transports: 'every', behaviour: 'a conditional tool appears and disappears with its predicate' },
  { id: 'A08-2', transports: 'every', behaviour: 'all predicates of one list read the same snapshot' },
  { id: 'A08-3', transports: 'every', behaviour: 'a predicate that throws hides only its own tool, and the error is reported' },
  { id: 'A09-1', transports: 'session', behaviour: 'the hooks of a group run when it is activated and deactivated' },
  {
    id: 'A09-2',
    transports: 'session',
    behaviour: 'a hook that fails leaves list and activation unchanged, and the reply says why',
  },
  {
    id: 'A09-3',
    transports: 'session',
    behaviour: 'when a later hook fails, the counterparts of earlier hooks undo them in reverse order',
  },
  { id: 'A10', transports: 'session', behaviour: 'code can deactivate a group even if the client sees no deactivator' },
  {
    id: 'A11',
    transports: 'none',
    behaviour: 'groups can be listed with description, state, parent, activator and tool count; a gate is not a group',
  },
  { id: 'A12-1', transports: 'every', behaviour: 'every client gets the tools in the same order, every time' },
  { id: 'A12-2', transports: 'every', behaviour: 'the pages of a list together contain every tool once, in order' },
  { id: 'A13', transports: 'session', behaviour: 'ten concurrent activations all take effect' },
  {
    id: 'A14-1',
    transports: 'every',
    behaviour: 'a hybrid server lists its own tools before registered ones and handles calls of both',
  },
  {
    id: 'A14-2',
    transports: 'every',
    behaviour: 'the server’s own tool wins over a registered tool with the same name, and the conflict is reported',
  },
  {
    id: 'A15',
    transports: 'every',
    behaviour: 'a call that loads or unloads a plugin changes the list for all clients and notifies each of them once',
  },
  { id: 'A16', transports: 'every', behaviour: 'a permission granted at run time reveals the tool that requires it' },
  {
    id: 'A17',
    transports: 'every',
    behaviour: 'registering a tool under the name of an activator is rejected without side effects',
  },
  {
    id: 'A18',
    transports: 'session',
    behaviour: 'with hints enabled, the reply to a call of a hidden tool names the activator to call',
  },
  { id: 'A19', transports: 'session', behaviour: 'an unknown group is an error that names the known groups' },
  { id: 'A20', transports: 'session', behaviour: 'activating an active group changes nothing and sends no notification' },
  {
    id: 'A21',
    transports: 'every',
    behaviour: 'a toolbox without groups lists and replies byte for byte like a plain SDK server',
  },
  { id: 'A22', transports: 'session', behaviour: 'the reply of an activator lists the tools that it revealed' },

  { id: 'C01', transports: 'every', behaviour: 'the same tools have the same identity, in any declaration order' },
  { id: 'C02', transports: 'every', behaviour: 'a different name, description or schema of a tool changes the identity' },
  { id: 'C03', transports: 'every', behaviour: 'adding a tool changes the identity, and removing it restores the previous one' },
  { id: 'C04', transports: 'every', behaviour: 'the identity includes the number of tools' },
  { id: 'C05', transports: 'every', behaviour: 'a client that reconnects and finds a known identity does not request the list' },
  { id: 'C06', transports: 'every', behaviour: 'a client that finds a different identity requests the list once and caches it' },
  {
    id: 'C07',
    transports: 'none',
    behaviour: 'unfold identity prints the identity of a server and reports whether it matches the expected one',
  },
  {
    id: 'C08',
    transports: 'none',
    behaviour: 'unfold list prints the signature of each tool of a server, and its schema with --schemas',
  },
  {
    id: 'C09',
    transports: 'none',
    behaviour: 'unfold call calls any tool that it finds, with --args or with flags from its schema',
  },
  {
    id: 'C10',
    transports: 'every',
    behaviour: 'calling or describing a tool without a name fails with a clear invalid params error',
  },
  { id: 'C11', transports: 'every', behaviour: 'a client that calls an unknown tool gets the nearest name' },
  { id: 'C12', transports: 'every', behaviour: 'a client that calls a tool without arguments sends an empty object' },
  {
    id: 'C13',
    transports: 'none',
    behaviour: 'a generated command line requires the flags that the schema requires, with their types',
  },
  { id: 'C14', transports: 'every', behaviour: 'a client that expects an identity rejects a server with a different one' },
  { id: 'C15', transports: 'every', behaviour: 'without identity, a plain toolbox lists the same bytes as a plain SDK server' },
  {
    id: 'C16',
    transports: 'every',
    behaviour: 'the initial result, the list and the server/identity result contain the same identity and tool count',
  },
  {
    id: 'C17',
    transports: 'every',
    behaviour: 'an identity covers only the tools that the caller may see, and reveals nothing about others',
  },
  {
    id: 'C18',
    transports: 'none',
    behaviour: 'a server has one identity on every transport, in both eras and on the command line',
  },
  { id: 'C19', transports: 'none', behaviour: '`unfold search` without the name of a server searches the running gateway' },
  {
    id: 'C20',
    transports: 'none',
    behaviour: 'a command for a missing gateway, an unknown server or a used port prints which exist, and what to run',
  },

  {
    id: 'D01',
    transports: 'none',
    behaviour: 'the gateway receives notifications from the moment a server is connected, so no change is missed',
  },
  { id: 'D02', transports: 'none', behaviour: 'only tools/list_changed makes the gateway request the tools of a server' },
  { id: 'D03', transports: 'none', behaviour: 'a change is reported with the number of tools added, removed and changed' },
  {
    id: 'D04',
    transports: 'none',
    behaviour: 'twenty notifications at once cause one tools/list and one notification to each client',
  },
  {
    id: 'D05',
    transports: 'none',
    behaviour: 'any number of notifications during tools/list causes exactly one more tools/list',
  },
  { id: 'D06', transports: 'none', behaviour: 'a tools/list that takes longer than 30 s is cancelled, reported and retried' },
  { id: 'D07', transports: 'none', behaviour: 'a server that disconnects during tools/list is listed again after it reconnects' },
  {
    id: 'D08',
    transports: 'none',
    behaviour: 'a server that notifies without declaring listChanged is followed, with one warning',
  },
  {
    id: 'D09',
    transports: 'none',
    behaviour: 'a missing listener or one that throws does not stop the gateway from following changes',
  },
  { id: 'D10', transports: 'none', behaviour: 'a server that never notifies is polled' },
  {
    id: 'D11',
    transports: 'none',
    behaviour: 'removing a server removes its tools with one notification, even during tools/list',
  },
  {
    id: 'D12',
    transports: 'none',
    behaviour: 'a gateway that shuts down during tools/list stops at once and sends no more requests',
  },
  { id: 'D13', transports: 'none', behaviour: 'of a thousand tools, only the changed one is rebuilt' },
  { id: 'D14', transports: 'none', behaviour: 'an empty tools/list result removes all tools of the server' },
  {
    id: 'D15',
    transports: 'none',
    behaviour: 'the gateway reads all pages; a cursor that repeats is reported and changes nothing',
  },
  { id: 'D16', transports: 'none', behaviour: 'tools/list of a server delays neither its calls nor the lists of clients' },
  {
    id: 'D17',
    transports: 'none',
    behaviour: 'a server that sends a notification after every tools/list is throttled, named in the log, and still followed',
  },
  { id: 'D18', transports: 'none', behaviour: 'a tools/list that fails is reported and retried until it succeeds' },
  {
    id: 'D19',
    transports: 'none',
    behaviour: 'a change notifies clients of both eras once, and they can list, find and call the new tools',
  },
  {
    id: 'D20',
    transports: 'none',
    behaviour: 'a server that is expensive to follow is refreshed later, this is reported once, and no change is lost',
  },

  {
    id: 'E01',
    transports: 'none',
    behaviour: 'without LAZY_MODE clients get the declared exposure, and LAZY_MODE=false disables lazy mode for all',
  },
  { id: 'E02', transports: 'session', behaviour: 'a lazy client starts with exactly manage_tools' },
  {
    id: 'E03',
    transports: 'session',
    behaviour: 'manage_tools lists names, short descriptions and enabled state, without schemas',
  },
  { id: 'E04-1', transports: 'session', behaviour: 'enabling one tool lists it and makes it callable' },
  {
    id: 'E04-2',
    transports: 'session',
    behaviour: 'enabling several tools at once lists all of them and sends one notification',
  },
  {
    id: 'E05',
    transports: 'session',
    behaviour: 'unknown names are reported with the nearest known names, and the known names take effect',
  },
  { id: 'E06', transports: 'session', behaviour: 'enabling an enabled tool changes nothing and sends no notification' },
  { id: 'E07', transports: 'session', behaviour: 'disabling tools removes them from the list' },
  { id: 'E08', transports: 'session', behaviour: 'disabling manage_tools is rejected, and it stays listed' },
  { id: 'E09', transports: 'session', behaviour: 'an unknown action is rejected with the list of valid actions' },
  { id: 'E10', transports: 'session', behaviour: 'the change notification always precedes the reply to the call that caused it' },
  { id: 'E11', transports: 'session', behaviour: 'tools enabled by one client neither appear for another client nor notify it' },

  {
    id: 'F01',
    transports: 'session',
    behaviour: 'groups activated by one client do not appear for another client connected at the same time',
  },
  { id: 'F02', transports: 'session', behaviour: 'a client that connects after another has disconnected starts fresh' },
  {
    id: 'F03',
    transports: 'session',
    behaviour: 'activating and deactivating a group repeatedly restores the initial list, with one notification per change',
  },
  { id: 'F04', transports: 'every', behaviour: 'listing tools sends no change notification' },
  {
    id: 'F05',
    transports: 'every',
    behaviour: 'a client that may see no tools gets an empty list from a server that still declares the tools capability',
  },
  {
    id: 'F06',
    transports: 'every',
    behaviour: 'a tool added to or removed from the server outside a call is announced to every client',
  },
  { id: 'F07-1', transports: 'every', behaviour: 'a tool that is filtered from the list cannot be called' },
  { id: 'F07-2', transports: 'every', behaviour: 'every listed tool can be called' },
  { id: 'F08', transports: 'session', behaviour: 'generated tools have titles' },
  {
    id: 'F09',
    transports: 'session',
    behaviour: 'calling a tool of a deactivated group returns the same reply as if it had never existed',
  },
  { id: 'F10', transports: 'session', behaviour: 'a session that has not finished its handshake receives no notifications' },
  { id: 'F11', transports: 'every', behaviour: 'a server that does not declare listChanged sends no change notifications' },
  { id: 'F12', transports: 'session', behaviour: 'in append order, tools keep their position and newly shown tools come last' },
  {
    id: 'F13-1',
    transports: 'every',
    behaviour: 'tools that are not permitted leave no trace in matches, counts and nearest names',
  },
  {
    id: 'F13-2',
    transports: 'every',
    behaviour: 'tools that are not available leave no trace in matches, counts and nearest names',
  },
  { id: 'F14', transports: 'every', behaviour: 'call_tool calls neither itself nor another surface tool' },
  { id: 'F15', transports: 'every', behaviour: 'an empty query lists all available tools by group' },
  { id: 'F16', transports: 'every', behaviour: 'a query in any script finds tools' },
  { id: 'F17', transports: 'every', behaviour: 'a query that matches no tool returns no matches and explains how to search' },
  { id: 'F18', transports: 'every', behaviour: 'the tools that search, describe, manage and call have titles' },
  { id: 'F19-1', transports: 'every', behaviour: 'search finds a tool by its changed description' },
  { id: 'F19-2', transports: 'every', behaviour: 'search finds a tool that was added' },
  { id: 'F19-3', transports: 'every', behaviour: 'search no longer finds a tool that was removed' },

  {
    id: 'G01',
    transports: 'every',
    behaviour: 'clients of both revisions use one running toolbox at the same time, each with its own protocol',
  },
  { id: 'G02', transports: 'none', behaviour: 'one HTTP address serves clients of both revisions' },
  {
    id: 'G03',
    transports: 'stateless',
    behaviour: 'the list is byte-identical before and after any call that changes no shared state',
  },
  { id: 'G04', transports: 'stateless', behaviour: 'the list depends on the caller and on nothing else about the connection' },
  { id: 'G05', transports: 'stateless', behaviour: 'a list declares how long it may be cached, and by whom' },
  { id: 'G06', transports: 'stateless', behaviour: 'a list that depends on the caller may only be cached by that caller' },
  { id: 'G07-1', transports: 'stateless', behaviour: 'a stream that subscribed to tool changes receives them' },
  { id: 'G07-2', transports: 'stateless', behaviour: 'a client that did not subscribe receives no notifications' },
  {
    id: 'G08',
    transports: 'stateless',
    behaviour: 'calling an activator by name changes nothing and returns the tools of its group',
  },
  { id: 'G09', transports: 'stateless', behaviour: 'generated activators are not listed, and every permitted tool is' },

  { id: 'P01', transports: 'every', behaviour: 'a handler may return a number or a boolean, which is sent as text' },
  { id: 'P02', transports: 'none', behaviour: 'LAZY_MODE=false overrides the lazy mode that a server declares' },
  {
    id: 'P04',
    transports: 'stateless',
    behaviour: 'a custom activator is listed, found and run like any tool, and reports that it activated nothing',
  },
  {
    id: 'P05',
    transports: 'none',
    behaviour: 'an activator in a toolbox with nothing to activate is rejected before serving starts',
  },
  {
    id: 'P06',
    transports: 'every',
    behaviour: 'descriptions, outlines, searches and call_tool include a hidden tool exactly when calling it is not denied',
  },
  {
    id: 'P07',
    transports: 'every',
    behaviour: 'a direct call of a tool that is found but not listed is answered with how to call it',
  },
  {
    id: 'P08',
    transports: 'session',
    behaviour: 'with a gate and groups, groups can be activated once the gate is open, and are deactivated with it',
  },
  { id: 'P09', transports: 'every', behaviour: 'nothing that a client receives contains the name of the group behind the gate' },
  { id: 'P10', transports: 'every', behaviour: 'surface tools accept a list as an array, as JSON text or as a single name' },
  {
    id: 'P11',
    transports: 'every',
    behaviour: 'a group without a description is described by the tools that the caller may see',
  },
  { id: 'P12', transports: 'every', behaviour: 'replies use the singular for one tool' },
  { id: 'P13', transports: 'session', behaviour: 'a custom activator without a description gets the description of its group' },
  { id: 'P14', transports: 'session', behaviour: 'the instructions do not repeat the description of the server' },
  {
    id: 'P15',
    transports: 'session',
    behaviour: 'outside a call, the active groups are those of the only client on stdio, or of the named scope',
  },
  { id: 'P16', transports: 'none', behaviour: 'a decorated class has the version of its package' },
  {
    id: 'P17',
    transports: 'every',
    behaviour: 'the former keys about, input and output are accepted for description, inputSchema and outputSchema, everywhere',
  },
  {
    id: 'P18',
    transports: 'none',
    behaviour: 'an unknown key in a declaration is rejected with its name and the nearest known key',
  },
  { id: 'P19', transports: 'none', behaviour: 'a plain object of schemas in place of a schema is rejected with how to wrap it' },
  { id: 'P20', transports: 'session', behaviour: 'a registry accepts the keys of a toolbox, with the same effect' },
  { id: 'P21', transports: 'none', behaviour: 'a server over HTTP prints how to connect to it under its own name' },
  { id: 'P22', transports: 'none', behaviour: 'on stdio, the active groups can be read before the client has connected' },
  {
    id: 'P23',
    transports: 'every',
    behaviour:
      'arguments and results that would take too long to validate are rejected before that, with the place and the remedy',
  },
  {
    id: 'P24',
    transports: 'none',
    behaviour: 'declared tools with names that are easily confused are reported to the author and still served',
  },
  {
    id: 'P25',
    transports: 'every',
    behaviour: 'a source that repeats the words of others cannot hide their tools from a search',
  },
  { id: 'P03', transports: 'none', behaviour: 'the gateway interprets LAZY_MODE like a server does' },

  { id: 'R04-1', transports: 'session', behaviour: 'a tool with a group and a predicate is shown only while both apply' },
  { id: 'R04-2', transports: 'session', behaviour: 'a predicate receives the active groups of the client' },

  { id: 'R05-1', transports: 'session', behaviour: 'a default group is active from the start' },
  { id: 'R05-2', transports: 'session', behaviour: 'activating a group activates all groups that it requires, transitively' },
  { id: 'R05-3', transports: 'none', behaviour: 'groups that require each other in a cycle are rejected at declaration' },
  { id: 'R05-4', transports: 'session', behaviour: 'deactivating a group deactivates the groups that require it' },
  {
    id: 'R05-5',
    transports: 'session',
    behaviour: 'when the group quota is full, the least recently used group is evicted and the reply says so',
  },
  { id: 'R05-6', transports: 'session', behaviour: 'using a tool protects its group from being evicted first' },
  { id: 'R05-7', transports: 'session', behaviour: 'a token budget evicts as many groups as the new group needs' },
  { id: 'R05-8', transports: 'session', behaviour: 'a quota that rejects changes nothing and says what to deactivate' },
  { id: 'R05-9', transports: 'session', behaviour: 'a group that can never fit the quota is rejected without evicting anything' },
  { id: 'R05-10', transports: 'session', behaviour: 'groups are deactivated children first and activated parents first' },
  { id: 'R05-11', transports: 'session', behaviour: 'a transition waits for its hooks; until then the list is unchanged' },
  { id: 'R05-12', transports: 'session', behaviour: 'a hook that hangs times out, and nothing changes' },
  {
    id: 'R05-13',
    transports: 'stateless',
    behaviour: 'a group with hooks is active from start-up, so its tools are listed and callable',
  },
  {
    id: 'R05-14',
    transports: 'session',
    behaviour: 'the tools of a group with hooks never run while it is inactive, even if everything is listed',
  },
  { id: 'R05-15', transports: 'every', behaviour: 'of several versions of a tool, the newest is shown' },
  { id: 'R05-16', transports: 'session', behaviour: 'an active group determines which version of a tool is shown and called' },
  {
    id: 'R05-17',
    transports: 'every',
    behaviour: 'a call by the former name of a renamed tool reaches it, and the former name is not listed',
  },
  { id: 'R05-18', transports: 'session', behaviour: 'the former name of a hidden tool is hidden as well' },
  { id: 'R05-19', transports: 'every', behaviour: 'read-only and destructive tools are annotated in the list' },
  {
    id: 'R05-20',
    transports: 'session',
    behaviour: 'when a client disconnects, the hooks of its active groups release their resources',
  },
  {
    id: 'R05-21',
    transports: 'session',
    behaviour: 'a default group whose hook fails stays inactive and is reported, and the client is served',
  },
  {
    id: 'R05-22',
    transports: 'session',
    behaviour: 'a client that disconnects while a group is being activated leaves nothing behind',
  },

  {
    id: 'R06-1',
    transports: 'session',
    behaviour: 'activators come first, then declared tools and then registered tools, in their order of declaration',
  },
  { id: 'R06-2', transports: 'none', behaviour: 'a duplicate name within one source is rejected' },
  { id: 'R06-3', transports: 'every', behaviour: 'a cursor from before a change is rejected with a clear error' },
  { id: 'R06-4', transports: 'every', behaviour: 'a cursor that this server did not create is rejected with a clear error' },

  { id: 'R07-1', transports: 'none', behaviour: 'tool groups work standalone: activate, deactivate, children, exclusion' },
  { id: 'R07-2', transports: 'none', behaviour: 'tool groups generate their help text' },
  { id: 'R07-3', transports: 'none', behaviour: 'a registry works standalone: register, list, call, unregister' },
  { id: 'R07-4', transports: 'none', behaviour: 'a registry has a tool only while it exists and is visible' },
  { id: 'R07-5', transports: 'none', behaviour: 'unregistering returns the tool, or undefined' },
  { id: 'R07-6', transports: 'none', behaviour: 'a standalone registry treats a hidden tool as unknown' },

  {
    id: 'R08-1',
    transports: 'every',
    behaviour: 'input can be declared with zod, arktype, valibot or JSON Schema, and the handler gets the parsed value',
  },
  {
    id: 'R08-2',
    transports: 'none',
    behaviour: 'a misspelt group, parent, exclusion or dependency does not compile, and is rejected at run time',
  },
  {
    id: 'R08-3',
    transports: 'session',
    behaviour: 'each group, including child groups, has one activator, and there is one deactivate; all stay listed',
  },
  { id: 'R08-4', transports: 'session', behaviour: 'a custom activator or deactivate replaces the generated one' },
  { id: 'R08-5', transports: 'session', behaviour: 'the description of an activator names the tools that it enables' },
  {
    id: 'R08-6',
    transports: 'session',
    behaviour: 'behind a gate, a new session lists exactly activate, and everything after calling it',
  },
  { id: 'R08-7', transports: 'every', behaviour: 'prompts are served along with the tools' },
  { id: 'R08-8', transports: 'every', behaviour: 'resources are served along with the tools' },
  { id: 'R08-9', transports: 'every', behaviour: 'completions are served along with the tools' },
  { id: 'R08-10', transports: 'every', behaviour: 'a tool can ask the user for input during a call' },
  { id: 'R08-11', transports: 'session', behaviour: 'tools registered at run time are behind the gate as well' },

  { id: 'R09-1', transports: 'session', behaviour: 'the activation field of a decorated class is separate for each client' },
  { id: 'R09-2', transports: 'session', behaviour: 'a handler that sets the activation field causes exactly one notification' },
  {
    id: 'R09-3',
    transports: 'session',
    behaviour: 'a handler that activates through the groups field causes exactly one notification',
  },
  { id: 'R09-4', transports: 'none', behaviour: 'the example servers can be written with both APIs' },

  {
    id: 'R11-1',
    transports: 'every',
    behaviour: 'the tools of an existing SDK server can be grouped without changing that server',
  },
  { id: 'R11-2', transports: 'every', behaviour: 'adopting works for a low-level server with its own list and call handlers' },
  { id: 'R11-3', transports: 'every', behaviour: 'adopting works for a server of SDK version 1' },
  { id: 'R11-4', transports: 'every', behaviour: 'an adopted server still serves its prompts and resources' },

  { id: 'R12-1', transports: 'http stateless', behaviour: 'a parameter header that differs from the body is rejected' },
  { id: 'R12-2', transports: 'http session', behaviour: 'a session can only be used by the caller that opened it' },
  {
    id: 'R12-3',
    transports: 'every',
    behaviour: 'nothing that a client receives mentions a tool that does not exist for that client',
  },
  { id: 'R12-4', transports: 'every', behaviour: 'in principal mode an activation applies to all connections of the principal' },
  { id: 'R12-5', transports: 'every', behaviour: 'in principal mode an activation is not visible to another principal' },

  { id: 'R13-1', transports: 'session', behaviour: 'groups named in the URL are active from the start, with their ancestors' },
  {
    id: 'R13-2',
    transports: 'stateless',
    behaviour: 'the list consists of the groups named in the URL and the tools that are always shown',
  },
  { id: 'R13-3', transports: 'every', behaviour: 'tags named in the URL show their tools, in any group' },
  { id: 'R13-4', transports: 'every', behaviour: 'a version pinned in the URL is the one shown and called' },
  { id: 'R13-5', transports: 'session', behaviour: 'a URL can request everything at once, without activators' },
  { id: 'R13-6', transports: 'every', behaviour: 'a URL that requests something unknown is a clear error' },
  { id: 'R13-7', transports: 'every', behaviour: 'a URL can request read-only tools only' },
  { id: 'R13-8', transports: 'every', behaviour: 'a URL cannot request groups that exclude each other' },
  { id: 'R13-9', transports: 'stateless', behaviour: 'a URL can request everything, and then nothing is hidden' },
  { id: 'R13-10', transports: 'every', behaviour: 'a URL cannot request groups that exceed the quota' },

  { id: 'R14-1', transports: 'none', behaviour: 'the web-standard handler serves both revisions without a socket' },
  { id: 'R14-2', transports: 'none', behaviour: 'serve() uses standard input and output by default' },
  { id: 'R14-3', transports: 'none', behaviour: 'serve() listens on the address from the command line and prints it' },
  { id: 'R14-4', transports: 'http', behaviour: 'a request with a foreign Host header is rejected' },
  { id: 'R14-5', transports: 'http', behaviour: 'a request from a foreign origin is rejected' },
  { id: 'R14-6', transports: 'http', behaviour: 'a body larger than the limit is rejected' },
  { id: 'R14-7', transports: 'every', behaviour: 'a message with too many elements is rejected, and the next one is handled' },
  { id: 'R14-8', transports: 'every', behaviour: 'a message nested too deeply is rejected, and the next one is handled' },
  { id: 'R14-9', transports: 'http session', behaviour: 'the number of open sessions does not exceed the limit' },
  { id: 'R14-10', transports: 'http session', behaviour: 'an unused session expires, but not one with an open stream' },
  { id: 'R14-11', transports: 'none', behaviour: 'the handler can be mounted in an existing HTTP server' },

  { id: 'R15-1', transports: 'http', behaviour: 'authenticate determines the caller, and handlers receive it' },
  { id: 'R15-2', transports: 'http', behaviour: 'a rejection by authenticate is sent unchanged' },
  {
    id: 'R15-3',
    transports: 'every',
    behaviour: 'tools that are not permitted are neither listed nor callable for that principal',
  },
  { id: 'R15-4', transports: 'every', behaviour: 'a permission check that throws denies everything and is reported' },
  { id: 'R15-5', transports: 'session', behaviour: 'a group with no permitted tools has no activator, and is unknown' },
  {
    id: 'R15-6',
    transports: 'every',
    behaviour: 'a permission granted or revoked at run time notifies only the affected principals',
  },

  { id: 'R16-1', transports: 'session', behaviour: 'if enabled, a principal who reconnects finds their groups active' },
  { id: 'R16-2', transports: 'session', behaviour: 'with a file store, activations survive a restart' },
  { id: 'R16-3', transports: 'session', behaviour: 'by default, activations are not remembered' },
  {
    id: 'R16-4',
    transports: 'session',
    behaviour: 'activations of one principal are not restored for another, nor for an anonymous caller',
  },
  { id: 'R16-5', transports: 'session', behaviour: 'a failing store is reported, and clients are still served' },

  {
    id: 'R17-1',
    transports: 'session',
    behaviour: 'the policy reveal activates the group of a hidden tool, runs it, notifies once, and reports this in _meta only',
  },
  { id: 'R17-2', transports: 'every', behaviour: 'tools that are not permitted are reported as unknown under every policy' },
  { id: 'R17-3', transports: 'every', behaviour: 'tools whose predicate is false are reported as unknown under every policy' },
  { id: 'R17-4', transports: 'session', behaviour: 'a hint for a tool in a child group names each activator to call, in order' },
  { id: 'R17-5', transports: 'stateless', behaviour: 'a hint for a tool outside the view explains which URL includes it' },
  {
    id: 'R17-6',
    transports: 'stateless',
    behaviour: 'the policy reveal runs a tool outside the view and leaves the list unchanged',
  },
  {
    id: 'R17-7',
    transports: 'every',
    behaviour: 'the policy reveal runs a tool without a group that the exposure does not list',
  },

  {
    id: 'R18-1',
    transports: 'session',
    behaviour: 'the reply to a transition names added tools, with a one-line signature each, and removed tools',
  },
  {
    id: 'R18-2',
    transports: 'session',
    behaviour: 'the reply to an activation names the child groups that can now be activated, with their activators',
  },
  { id: 'R18-3', transports: 'session', behaviour: 'the reply to a transition has equivalent structured content' },
  {
    id: 'R18-4',
    transports: 'session',
    behaviour: 'the reply to an activation explains to a client that does not re-list how to call the new tools',
  },

  { id: 'R19-1', transports: 'session', behaviour: 'activating a group that shows nothing new sends no notification' },
  { id: 'R19-2', transports: 'session', behaviour: 'a handler that activates several groups causes one notification' },
  { id: 'R19-3', transports: 'every', behaviour: 'tools registered together are announced together' },
  { id: 'R19-4', transports: 'session', behaviour: 'a change made during another change is never lost' },
  {
    id: 'R19-5',
    transports: 'every',
    behaviour: 're-evaluating predicates outside a request notifies only the clients whose view changed',
  },
  {
    id: 'R19-6',
    transports: 'session',
    behaviour: 'a group can be activated and deactivated for one scope from outside a request',
  },
  { id: 'R19-7', transports: 'session', behaviour: 'a group can be activated for all connected clients' },
  {
    id: 'R19-8',
    transports: 'http session',
    behaviour: 'a client that opens its stream late is notified of the change it missed',
  },
  { id: 'R19-9', transports: 'every', behaviour: 'a change that is undone before the notification is sent is not announced' },
  {
    id: 'R19-10',
    transports: 'http session',
    behaviour: 'a client without an open stream receives the notification with the reply to its call',
  },
  {
    id: 'R19-11',
    transports: 'session',
    behaviour: 'an activation that a handler makes after its reply was sent is announced as well',
  },
  {
    id: 'R19-12',
    transports: 'every',
    behaviour: 'in principal mode a group can be activated for a principal, connected or not',
  },

  {
    id: 'R20-1',
    transports: 'every',
    behaviour: 'the server declares listChanged by default, and not if its author disables it',
  },
  { id: 'R20-2', transports: 'session', behaviour: 'the instructions name each group and the tool that activates it' },
  { id: 'R20-3', transports: 'stateless', behaviour: 'the instructions name the groups and no activators' },
  { id: 'R20-4', transports: 'every', behaviour: 'custom instructions are sent unchanged' },

  {
    id: 'L00',
    transports: 'none',
    behaviour: 'a client that ignores changes, one that follows them and one of 2026-07-28 reach a tool in the fewest calls',
  },

  { id: 'L01-1', transports: 'none', behaviour: 'LAZY_MODE accepts the usual spellings of booleans' },
  { id: 'L01-2', transports: 'none', behaviour: 'a LAZY_MODE value that is not a boolean is a clear error at start-up' },
  { id: 'L01-3', transports: 'session', behaviour: 'a URL can request lazy mode without affecting other clients of the server' },
  {
    id: 'L01-4',
    transports: 'session',
    behaviour: 'a lazy client starts with only manage_tools, even if groups are active by default',
  },
  {
    id: 'L01-5',
    transports: 'every',
    behaviour: 'in principal mode a lazy principal starts with only manage_tools, and keeps the tools they enable',
  },

  {
    id: 'L02-1',
    transports: 'session',
    behaviour: 'the list of manage_tools is paged, and the pages together contain every tool once',
  },
  { id: 'L02-2', transports: 'session', behaviour: 'the list of manage_tools can be filtered by group, tag and text' },
  { id: 'L02-3', transports: 'session', behaviour: 'a group is enabled and disabled by name, with its child groups' },
  { id: 'L02-4', transports: 'session', behaviour: 'manage_tools searches and describes' },
  { id: 'L02-5', transports: 'session', behaviour: 'reset disables all enabled tools and sends one notification' },
  {
    id: 'L02-6',
    transports: 'session',
    behaviour: 'the reply to enabling contains the signatures of the tools that can now be called',
  },
  {
    id: 'L02-7',
    transports: 'session',
    behaviour: 'enabling a tool of a group with hooks runs them, and disabling its last tool releases their resources',
  },
  {
    id: 'L02-8',
    transports: 'session',
    behaviour: 'disabling a tool that its active group shows reports that it is still listed',
  },
  { id: 'L02-9', transports: 'session', behaviour: 'enabling and disabling without names is a clear error' },

  { id: 'L03-1', transports: 'stateless', behaviour: 'a lazy server shows the tools that search and call' },
  { id: 'L03-2', transports: 'stateless', behaviour: 'no call of any tool of a lazy server changes a byte of the list' },
  {
    id: 'L03-3',
    transports: 'stateless',
    behaviour: 'calling manage_tools by name changes nothing and explains how to call tools instead',
  },

  { id: 'L04-1', transports: 'every', behaviour: 'matches are one-line signatures, best first' },
  { id: 'L04-2', transports: 'every', behaviour: 'matches can be requested as names only or as full definitions' },
  { id: 'L04-3', transports: 'every', behaviour: 'the reply to a search says how many of how many tools it shows' },
  { id: 'L04-4', transports: 'every', behaviour: 'a search can be filtered by group, tags and read-only' },
  { id: 'L04-5', transports: 'every', behaviour: 'a search shows five matches by default' },
  { id: 'L04-6', transports: 'every', behaviour: 'a search in an unknown group names the nearest group' },
  {
    id: 'L04-7',
    transports: 'every',
    behaviour: 'search results are byte-identical to those of a server without the tools that are not permitted',
  },

  { id: 'L05-1', transports: 'every', behaviour: 'describe_tools returns the full definitions of several tools at once' },
  {
    id: 'L05-2',
    transports: 'every',
    behaviour: 'describe_tools reports unknown names with the nearest names and describes the known ones',
  },
  { id: 'L05-3', transports: 'every', behaviour: 'call_tool runs a tool that is not listed, and replies like a direct call' },
  {
    id: 'L05-4',
    transports: 'every',
    behaviour: 'invalid arguments are answered with the problems, the schema and an example that makes the next call succeed',
  },
  { id: 'L05-5', transports: 'every', behaviour: 'call_tool treats tools that are not permitted or not available as unknown' },
  { id: 'L05-6', transports: 'every', behaviour: 'progress is reported through call_tool' },
  { id: 'L05-7', transports: 'every', behaviour: 'a call through call_tool can be cancelled' },
  { id: 'L05-8', transports: 'every', behaviour: 'a handler called through call_tool receives the caller and the era' },
  { id: 'L05-9', transports: 'every', behaviour: 'a group with hooks is prepared before call_tool runs one of its tools' },
  { id: 'L05-10', transports: 'every', behaviour: 'a tool called through call_tool can ask the user for input' },
  {
    id: 'L05-11',
    transports: 'every',
    behaviour: 'variants of call_tool call only tools of their kind, and name the right variant for others',
  },
  {
    id: 'L05-12',
    transports: 'session',
    behaviour: 'a tool called through call_tool can activate a group, with one notification and a note in the reply',
  },
  { id: 'L05-13', transports: 'every', behaviour: 'a former name reaches its tool through call_tool' },

  {
    id: 'L06-1',
    transports: 'every',
    behaviour: 'search_tools, describe_tools and call_tool together cost fewer than 350 tokens, even with twenty groups',
  },
  { id: 'L06-2', transports: 'session', behaviour: 'manage_tools costs fewer than 350 tokens, even with twenty groups' },
  { id: 'L06-3', transports: 'every', behaviour: 'the surface tools name a few groups and the number of remaining groups' },
  { id: 'L06-4', transports: 'every', behaviour: 'the replies of surface tools report their token cost' },
  {
    id: 'L06-5',
    transports: 'session',
    behaviour: 'the surface tools name no group without permitted tools, and none behind a gate',
  },

  { id: 'L07-1', transports: 'session', behaviour: 'declared groups are shown as declared, at any token cost' },
  {
    id: 'L07-2',
    transports: 'stateless',
    behaviour: 'a toolbox with groups is listed completely if its cost is within the budget',
  },
  {
    id: 'L07-3',
    transports: 'stateless',
    behaviour: 'a toolbox with groups that exceeds the budget shows the tools that search and call',
  },
  {
    id: 'L07-4',
    transports: 'every',
    behaviour: 'a toolbox without groups is listed completely at any cost, without surface tools',
  },
  { id: 'L07-5', transports: 'every', behaviour: 'with exposure auto, a server within the budget lists everything' },
  {
    id: 'L07-6',
    transports: 'session',
    behaviour: 'with exposure auto, a server above the budget lists search and call_tool, and no call changes that list',
  },
  {
    id: 'L07-7',
    transports: 'stateless',
    behaviour: 'with exposure auto, a server above the budget shows the tools that search and call',
  },
  {
    id: 'L07-8',
    transports: 'session',
    behaviour: 'a client that did not re-list after a change is referred to call_tool, which its list then contains',
  },
  { id: 'L07-9', transports: 'session', behaviour: 'a client that re-lists is assumed to follow changes from then on' },
  { id: 'L07-10', transports: 'every', behaviour: 'manage_tools reports the exposure, the reason for it and its cost' },
  { id: 'L07-11', transports: 'every', behaviour: 'a URL can request each exposure' },
  { id: 'L07-12', transports: 'session', behaviour: 'predicates receive the groups that the client activated' },
  { id: 'L07-13', transports: 'none', behaviour: 'a budget that is not a number of tokens is rejected at declaration' },

  {
    id: 'H01',
    transports: 'every',
    behaviour: 'replies of surface tools contain everything in text, without structuredContent, and declare no outputSchema',
  },
  {
    id: 'H02',
    transports: 'session',
    behaviour: 'with declared groups, a host known not to re-list also gets call_tool; an unknown client gets the declared list',
  },
  {
    id: 'H03',
    transports: 'session',
    behaviour: 'with declared groups, call_tool reaches active groups; inactive groups follow hiddenCalls',
  },
  {
    id: 'H04',
    transports: 'session',
    behaviour:
      'the host is determined from the URL, then the configuration, then behaviour in this session, then the client name',
  },
  { id: 'H05', transports: 'stateless', behaviour: 'the name of a 2026-07-28 client changes nothing, the host in its URL does' },
  {
    id: 'H06',
    transports: 'session',
    behaviour: 'the reply to an activation waits until the client has re-listed, so that the next call succeeds',
  },
  {
    id: 'H07',
    transports: 'session',
    behaviour: 'the server waits once for a client that does not re-list in time, and never for a host known not to re-list',
  },
  {
    id: 'H08',
    transports: 'every',
    behaviour: 'native lists everything; always-listed tools have alwaysLoad, all others a searchHint in everyday language',
  },
  { id: 'H09', transports: 'every', behaviour: 'surface tools have alwaysLoad in every exposure' },
  { id: 'H10', transports: 'every', behaviour: 'auto selects native for a host that defers tools itself' },
  { id: 'H11', transports: 'every', behaviour: 'instructions fit into the first 2,048 bytes with any number of groups' },
  {
    id: 'H12',
    transports: 'every',
    behaviour: 'a host that never re-lists can search for tools that are added later, even if all tools are listed',
  },

  {
    id: 'S01',
    transports: 'session',
    behaviour: 'a new session lists only query_dom and observe, with the modes that need no data',
  },
  {
    id: 'S02',
    transports: 'session',
    behaviour: 'network bodies add the mode network to observe, and har to generate after the first observation',
  },
  { id: 'S03', transports: 'session', behaviour: 'the first observation lists analyze, generate and configure' },
  {
    id: 'S04',
    transports: 'every',
    behaviour: 'actions add the modes actions to observe, timeline to analyze, and reproduction and test to generate',
  },
  {
    id: 'S05',
    transports: 'every',
    behaviour: 'a performance snapshot adds the modes vitals to observe and performance to analyze',
  },
  { id: 'S06', transports: 'every', behaviour: 'configure has all its modes with any data' },
  { id: 'S07', transports: 'every', behaviour: 'counts in a list are the current sizes of the buffers' },
  { id: 'S08', transports: 'every', behaviour: 'a mode depends only on its own data' },
  { id: 'S09', transports: 'session', behaviour: 'listing tools is not an observation' },
  { id: 'S10', transports: 'session', behaviour: 'before the first observation exactly two tools are listed, with any data' },
  { id: 'S11', transports: 'session', behaviour: 'a failed observation lists no more tools' },
  { id: 'S12', transports: 'session', behaviour: 'a restart resets observations' },
  { id: 'S13', transports: 'every', behaviour: 'a tool without counts has no _meta' },
  { id: 'S14', transports: 'every', behaviour: 'the counts have the keys and values of their source' },
  {
    id: 'S15',
    transports: 'every',
    behaviour: 'the modes of each tool match the specified tables for every combination of data',
  },
  { id: 'S16', transports: 'every', behaviour: 'each list is a consistent snapshot while data streams in' },
  { id: 'S17', transports: 'every', behaviour: 'counts stay correct when new data replaces the oldest' },
  { id: 'S18', transports: 'every', behaviour: 'the list stays small with any amount of data' },
  {
    id: 'S19',
    transports: 'session',
    behaviour: 'an observation by one client lists nothing for another, and both share the data',
  },
  { id: 'S20', transports: 'every', behaviour: 'if all modes are listed, a hint explains how to get data for the empty ones' },
  {
    id: 'S21',
    transports: 'every',
    behaviour: 'filtered lists the modes with data, static lists all, and both mark which have data',
  },
  { id: 'S22', transports: 'every', behaviour: 'data that arrived after the list was read can be requested under both policies' },
  { id: 'S23', transports: 'every', behaviour: 'schemas are plain objects that any client accepts, with any data' },
  { id: 'S24', transports: 'every', behaviour: 'the author or the URL can omit the counts for strict clients' },
  { id: 'S25', transports: 'every', behaviour: 'a new mode is announced, a growing count is not' },
  {
    id: 'S26',
    transports: 'every',
    behaviour: 'a flood of data sends no more notifications than the minimum interval allows, and the last state is announced',
  },
  {
    id: 'S27',
    transports: 'stateless',
    behaviour: 'tools that are not ready say what to call first, and observing changes no byte of the list',
  },
  {
    id: 'S28',
    transports: 'every',
    behaviour: 'a mode that is unknown, missing or without data is rejected with the available modes',
  },
  { id: 'S29', transports: 'session', behaviour: 'the instructions say what to start with' },
  {
    id: 'S30',
    transports: 'none',
    behaviour: 'a server on standard input and output omits the counts if its command line says so',
  },
  { id: 'S31', transports: 'every', behaviour: 'data_counts is sent only for tools with counts' },
  {
    id: 'S32',
    transports: 'every',
    behaviour: 'a host that does not re-list in time sees every tool with all its modes from the start, with any data',
  },
  {
    id: 'S33',
    transports: 'every',
    behaviour: 'a mode that declares only a count has data while the count is above zero, by default',
  },
  {
    id: 'S34',
    transports: 'session',
    behaviour: 'a client found not to re-list is sent every tool that was not ready, with all its modes',
  },

  { id: 'B01', transports: 'every', behaviour: 'a call without params is rejected as invalid params' },
  { id: 'B02', transports: 'every', behaviour: 'a call without a name is rejected as invalid params' },
  { id: 'B03', transports: 'every', behaviour: 'a call without arguments is a call with an empty object' },
  { id: 'B04', transports: 'every', behaviour: 'an unknown tool is rejected with the nearest names' },
  {
    id: 'B05',
    transports: 'every',
    behaviour: 'if two registries claim a name, the first keeps it, and the conflict is reported',
  },
  { id: 'B06', transports: 'none', behaviour: 'the names of the library’s own tools are reserved' },
  { id: 'B07', transports: 'none', behaviour: 'names that MCP does not allow are rejected' },
  { id: 'B08', transports: 'every', behaviour: 'invalid arguments produce a result that lists every problem with its path' },
  { id: 'B09', transports: 'every', behaviour: 'keys such as __proto__ do not reach a prototype' },
  {
    id: 'B10',
    transports: 'every',
    behaviour: 'a handler that throws produces a result with its message, and the next call is handled',
  },
  { id: 'B11', transports: 'every', behaviour: 'a handler that hangs times out, and the next call is handled' },
  { id: 'B12', transports: 'every', behaviour: 'a handler that returns an invalid value produces a result that says so' },
  { id: 'B13', transports: 'every', behaviour: 'when a client disconnects during a call, other clients are not affected' },
  { id: 'B14', transports: 'every', behaviour: 'the handler of a call whose client has disconnected for good is aborted' },
  { id: 'B15', transports: 'every', behaviour: 'a query of a megabyte is answered in bounded time with a short text' },
  {
    id: 'B16',
    transports: 'every',
    behaviour: 'queries of punctuation, combining marks and regex metacharacters are answered like any other',
  },
  { id: 'B17', transports: 'every', behaviour: 'a limit out of range is clamped, and a limit that is not a number is rejected' },
  { id: 'B18', transports: 'every', behaviour: 'an unknown detail is rejected with the list of valid ones' },
  { id: 'B19', transports: 'every', behaviour: 'surface tools treat names that exist only for others as unknown' },
  {
    id: 'B20',
    transports: 'every',
    behaviour: 'a tool with a schema of five megabytes is found, described and called in bounded time',
  },
  { id: 'B21', transports: 'every', behaviour: 'twenty thousand tools are paged, searched, enabled and called in bounded time' },
  {
    id: 'B22',
    transports: 'every',
    behaviour: 'thousands of unknown names at once are answered in bounded time with a short text',
  },

  {
    id: 'V01',
    transports: 'http',
    behaviour: '/mcp/s/<server> lists and calls the tools of one server under their original names',
  },
  {
    id: 'V02',
    transports: 'http',
    behaviour: 'a single-server endpoint has the server’s name, title, version, description and instructions',
  },
  {
    id: 'V03',
    transports: 'http',
    behaviour: 'prompts and resources of a single-server endpoint have their original names and URIs',
  },
  {
    id: 'V04',
    transports: 'http',
    behaviour: 'a token with a profile sees its tools on a single-server endpoint; endpoints outside the profile do not exist',
  },
  {
    id: 'V05',
    transports: 'http',
    behaviour: 'a change of one server notifies its clients once, and no client of another server',
  },
  { id: 'V06', transports: 'http', behaviour: 'exposure, budget, search and hidden calls work on a single-server endpoint' },
  {
    id: 'V07',
    transports: 'http',
    behaviour: 'a long result of a single-server endpoint can be read with read_result, by the same client only',
  },
  {
    id: 'V08',
    transports: 'http',
    behaviour: 'elicitation and progress on a single-server endpoint reach the client that called',
  },
  {
    id: 'V09',
    transports: 'http',
    behaviour: 'single-server endpoints follow the configuration, and sessions of a removed server end',
  },
  { id: 'V10', transports: 'http', behaviour: 'calls on a single-server endpoint count for rate limit, audit and metrics' },
  { id: 'V11', transports: 'http', behaviour: 'two clients of a single-server endpoint share neither activation nor session' },
  {
    id: 'U01',
    transports: 'none',
    behaviour:
      'servers started by npx and other launchers are installed two at a time, with progress, and without startTimeoutMs',
  },
  { id: 'U02', transports: 'none', behaviour: 'an installation that is stopped gets SIGTERM and time to clean up' },
  {
    id: 'U03',
    transports: 'none',
    behaviour: 'a server that fails to start shows its first error line and what to do; an installation is not retried at once',
  },
  {
    id: 'U04',
    transports: 'none',
    behaviour: 'an npx folder that an interrupted installation left incomplete is reported for deletion',
  },
  { id: 'U05', transports: 'none', behaviour: 'a server whose tools/list fails is degraded, not ready' },
  { id: 'U06', transports: 'none', behaviour: 'a start that times out reports the attempt and the setting to change' },
  { id: 'U07', transports: 'none', behaviour: 'on Linux, descendants that left the process group of a server end with it' },
  {
    id: 'U08',
    transports: 'none',
    behaviour: 'a program that writes something else than messages to stdout is reported with that line',
  },

  { id: 'K01', transports: 'http', behaviour: 'an embedder in unfold.json finds tools by meaning, for all profiles or for one' },
  { id: 'K02', transports: 'http', behaviour: 'search learns from calls if unfold.json enables it, for all profiles or for one' },
  {
    id: 'K03',
    transports: 'http session',
    behaviour:
      'with remember: reconnect in unfold.json, the next session of a token restores its activations, even after a restart',
  },
  {
    id: 'K04',
    transports: 'http',
    behaviour: 'with remember: principal in a profile, all sessions and requests of a token share activations',
  },
  { id: 'K05', transports: 'http', behaviour: 'edits of search and remember apply at once, and tools are not embedded again' },
  {
    id: 'K06',
    transports: 'none',
    behaviour: 'the key of an embedder never appears in gateway output, even if its endpoint repeats it',
  },

  {
    id: 'N01',
    transports: 'http',
    behaviour: 'a call waits for at most one call of each other client, however many those have queued',
  },
  { id: 'N02', transports: 'http', behaviour: 'one principal cannot take every session or stream' },

  {
    id: 'W01',
    transports: 'none',
    behaviour: 'a preview shows both eras side by side: the initial list, what each step adds, and the costs',
  },
  {
    id: 'W02',
    transports: 'none',
    behaviour:
      'a preview warns about missing descriptions, unreachable groups and activators, and anything that a host truncates, rejects or drops',
  },
  {
    id: 'W03',
    transports: 'none',
    behaviour: 'a preview of a running server calls only the tools that change its own list, and undoes those changes',
  },
  {
    id: 'T01',
    transports: 'http session',
    behaviour: 'with "watch", a harmless change of a tool is served, and a hazardous one holds only this tool',
  },
  {
    id: 'T02',
    transports: 'http session',
    behaviour: 'with "watch", the first list is served, and a new tool is held only for its text',
  },
  { id: 'T03', transports: 'http session', behaviour: 'instructions that become hazardous hold everything of the server' },
  { id: 'T04', transports: 'http session', behaviour: 'with "review", the first list is held until it is approved' },
  {
    id: 'T05',
    transports: 'http session',
    behaviour: 'with "pin", a changed tool is held until it is approved, and is never served once it is blocked',
  },
  {
    id: 'T06',
    transports: 'http session',
    behaviour: 'to clients, what is held does not exist: it is not listed, found, described, counted or called',
  },
  {
    id: 'T07',
    transports: 'http session',
    behaviour: 'a queued call is refused only if its tool is held or gone when it is sent',
  },
  {
    id: 'T08',
    transports: 'http session',
    behaviour: 'requests of clients and tokens below the role "reviewer" cannot approve, on loopback too',
  },
  { id: 'T09', transports: 'none', behaviour: 'without the token of a reviewer, only a person at a terminal can approve' },
  {
    id: 'T10',
    transports: 'http session',
    behaviour: 'decisions survive restarts and reconnects, and a damaged file holds pinned tools',
  },
  { id: 'T11', transports: 'none', behaviour: 'decisions move to another machine, and a changed file is refused as a whole' },
  { id: 'T12', transports: 'http session', behaviour: 'another version of a server is reported, never held' },
  { id: 'T13', transports: 'http session', behaviour: 'another TLS key of a server is reported, never held' },
  { id: 'Q01', transports: 'http session', behaviour: 'no spelling of a path gets past the folders of a rule' },
  { id: 'Q02', transports: 'http session', behaviour: 'no spelling of a URL gets past the hosts of a rule' },
  { id: 'Q03', transports: 'http', behaviour: 'every route to a tool passes the policy' },
  {
    id: 'Q04',
    transports: 'http session',
    behaviour: 'a tool that is denied with any arguments is not listed; rules about arguments hide nothing',
  },
  {
    id: 'Q05',
    transports: 'http session',
    behaviour: 'rules apply by token, and a tool that a token can never call does not exist for it',
  },
  { id: 'Q06', transports: 'none', behaviour: '`unfold policy test` explains the decision of each rule, and calls nothing' },
  { id: 'Q07', transports: 'none', behaviour: '`unfold policy suggest` proposes a policy that allows what was called' },
  { id: 'Q08', transports: 'http session', behaviour: 'a changed policy applies to the next call, and an invalid one to none' },
  { id: 'Q09', transports: 'http', behaviour: 'a call that needs approval is sent once, after the user has answered' },
  { id: 'Q10', transports: 'http', behaviour: 'an answer is used once, and only for the call that it was given for' },
  { id: 'Q11', transports: 'http session', behaviour: 'an approval for the session or for always covers only the same call' },
  {
    id: 'Q12',
    transports: 'http',
    behaviour: 'without elicitation, a call waits for `unfold approvals`, which no program answers alone',
  },
  { id: 'Q13', transports: 'http session', behaviour: 'without an answer in time a call is denied' },
  {
    id: 'Q14',
    transports: 'http session',
    behaviour: 'after a crash while an approved call runs, the reply says that its effect is unknown',
  },
  {
    id: 'M01',
    transports: 'http stateless',
    behaviour: 'replicas with the same secret and without Redis continue each other’s requests',
  },
  { id: 'M02', transports: 'none', behaviour: 'the catalogue that replicas share never goes back in time' },
  { id: 'M03', transports: 'none', behaviour: 'an approval is used once, on whichever replica' },
  {
    id: 'M04',
    transports: 'none',
    behaviour: 'after Redis lost its data, approvals and trust fail closed on every replica until that is confirmed',
  },
  {
    id: 'M05',
    transports: 'none',
    behaviour: 'a rate limit applies to all replicas together, with at most one round trip before a call',
  },
  {
    id: 'M06',
    transports: 'http',
    behaviour:
      'while Redis is down, slow, full or read-only, known clients list and call, approvals are refused, and status shows it',
  },
  { id: 'M07', transports: 'none', behaviour: '`unfold status` shows the replicas and the state of Redis, and nothing secret' },
  {
    id: 'M08',
    transports: 'none',
    behaviour:
      'every replica serves every session: activations, approvals and calls are neither lost nor repeated, and clients know their view, while replicas, Redis and the network fail',
  },
  {
    id: 'M09',
    transports: 'none',
    behaviour: 'notifications, elicitation and cancellation reach a session whose requests go to different replicas',
  },
  {
    id: 'M10',
    transports: 'none',
    behaviour: 'a server that runs on one replica never runs twice, also if that replica is suspended and resumes, or is killed',
  },
  {
    id: 'M11',
    transports: 'http',
    behaviour: 'a server that runs on one replica serves clients of the others like its own, in both eras',
  },
  {
    id: 'M12',
    transports: 'none',
    behaviour: 'a request between replicas needs their secret, and is accepted once, by the replica that it was signed for',
  },
  {
    id: 'M13',
    transports: 'none',
    behaviour: 'after Redis lost data, a lease is free only when an unknown holder must have given it up',
  },
  {
    id: 'M14',
    transports: 'none',
    behaviour: 'a rolling update behind a load balancer fails no call and loses no notification, in both eras',
  },
  {
    id: 'M15',
    transports: 'http session',
    behaviour:
      'a client whose connection breaks, or whose replica stops, continues a stream at any replica: it gets the result of its call, or learns that the effect is unknown',
  },
  {
    id: 'M16',
    transports: 'none',
    behaviour:
      'with `follow: one`, one of several replicas lists the tools of a server after a change, and the others take over its list',
  },
  {
    id: 'X01',
    transports: 'none',
    behaviour: 'a one-time link signs one browser in once, and its code does not stay in the address',
  },
  { id: 'X02', transports: 'none', behaviour: 'the cookie of the dashboard works only in requests of its own page' },
  { id: 'X03', transports: 'none', behaviour: 'a page that signed in with a token can do what the role of the token allows' },
  {
    id: 'X04',
    transports: 'none',
    behaviour: 'the dashboard cannot be framed, runs no inline code and serves only its own files',
  },
  { id: 'X05', transports: 'none', behaviour: 'a header of an untrusted peer does not make the cookie of the dashboard Secure' },
  { id: 'X06', transports: 'none', behaviour: 'the dashboard shows markup of a server as text' },
  { id: 'X07', transports: 'none', behaviour: 'each route of the admin API requires a role, and refuses all others' },
  { id: 'X08', transports: 'none', behaviour: 'a page of the dashboard stays as it was while its gateway restarts' },
  { id: 'X09', transports: 'none', behaviour: 'every screen and action of the dashboard is usable with the keyboard alone' },
  {
    id: 'X10',
    transports: 'none',
    behaviour: 'an administrator signs in to a server from the dashboard, and sees why it failed',
  },
  {
    id: 'X11',
    transports: 'none',
    behaviour: 'the view of a client names every tool that it cannot use, with the check that stops it',
  },
  {
    id: 'Y20',
    transports: 'none',
    behaviour: 'tools are described as TypeScript that no description, name or value can break out of',
  },
  {
    id: 'Y21',
    transports: 'none',
    behaviour:
      'the result type of a tool without an output schema is learned without values, for each principal from its own calls',
  },
  {
    id: 'Y22',
    transports: 'none',
    behaviour: 'types are removed from a script without moving a line or column, and plain JavaScript stays as it is',
  },
  {
    id: 'Y40',
    transports: 'none',
    behaviour:
      'the exposure code lists search_tools, describe_tools and run_code; others list run_code where the author wants it',
  },
  {
    id: 'Y41',
    transports: 'none',
    behaviour: 'a script calls tools, and what it returns is the result, as text and as structured content',
  },
  {
    id: 'Y42',
    transports: 'none',
    behaviour:
      'a failed call of a script is an exception with text, reason and line, and a tool that the client may not use does not exist',
  },
  {
    id: 'Y43',
    transports: 'none',
    behaviour: 'a script that fails replies with line and column, and with what it has done, call by call',
  },
  {
    id: 'Y44',
    transports: 'none',
    behaviour: 'a person is asked once about all calls of a script that change something and wait',
  },
  {
    id: 'Y45',
    transports: 'none',
    behaviour: 'where nobody can be asked, a call of a script that changes something is not made',
  },
  {
    id: 'Y46',
    transports: 'none',
    behaviour: 'a paused script continues in any process with the secret, and no call happens more often than without a pause',
  },
  {
    id: 'Y47',
    transports: 'none',
    behaviour: 'in a gateway, the calls of a script pass trust, policy, limits and audit like those of its client',
  },
  {
    id: 'Y48',
    transports: 'none',
    behaviour: 'a stored script is a tool with schemas that are checked, and pauses and asks like run_code',
  },
  {
    id: 'Y49',
    transports: 'none',
    behaviour: 'a stored script reaches what its caller may call and what is granted to it, and shares nothing with other runs',
  },
  {
    id: 'Y50',
    transports: 'none',
    behaviour: 'a new or changed script of a gateway waits for review, and what runs is what was reviewed',
  },
  {
    id: 'Y51',
    transports: 'none',
    behaviour: 'a script of a gateway reaches no tool that waits for review, and others than its caller may call only if granted',
  },
  {
    id: 'Y52',
    transports: 'none',
    behaviour: 'scripts are listed, tested with recorded calls, and created from the audit log on the command line',
  },
  { id: 'Y23', transports: 'none', behaviour: 'a script gets results completely that would be truncated for a model' },
  {
    id: 'X21',
    transports: 'none',
    behaviour: 'a tool call of the dashboard passes the policy and is recorded under the token that made it',
  },
  {
    id: 'X22',
    transports: 'none',
    behaviour: 'the effect of a search and of an activation can be seen before, for any client, and leaves no trace',
  },
  {
    id: 'X23',
    transports: 'none',
    behaviour: 'settings of a server are edited without showing its secrets; what starts something else waits for approval',
  },
  { id: 'X24', transports: 'none', behaviour: 'the history of a tool list shows what changed in each definition' },
  {
    id: 'X25',
    transports: 'none',
    behaviour: 'a form of the dashboard sends every kind of argument, and its command makes the same call',
  },
  { id: 'X26', transports: 'none', behaviour: 'a call of the dashboard shows progress, can be cancelled, and answers questions' },
  {
    id: 'X27',
    transports: 'none',
    behaviour: 'an edit of settings is shown as a difference before it is saved, in the dashboard too',
  },
  {
    id: 'X28',
    transports: 'none',
    behaviour:
      'the dashboard shows the effect of an edit for unused tools before it applies, and whether the audit log is intact',
  },
  {
    id: 'X29',
    transports: 'none',
    behaviour: 'the parts of a call are recorded: approvals, questions, and requests that repeat it',
  },
] as const satisfies readonly Requirement[]

export type RequirementId = (typeof requirements)[number]['id']
