/** The ways that a requirement is proven on: transport and era of the client, or `none` where no client takes part. */
export type Reach = 'every' | 'session' | 'stateless' | 'http' | 'http session' | 'http stateless' | 'none'

/** One promise of the project. */
export interface Requirement {
  readonly id: string
  readonly behaviour: string
  readonly ways: Reach
}

/**
 * What the server library promises. A: discovery as its source document tells it. F: what went wrong for users of other servers.
 * G: two protocol eras. R: the points of the specification that these leave open, by number. B: bad input.
 */
export const requirements = [
  { id: 'A01', ways: 'session', behaviour: 'a fresh list holds the activators and what is always shown, nothing else' },
  { id: 'A02', ways: 'every', behaviour: 'a call of a hidden tool is answered with the same bytes as if the tool did not exist' },
  { id: 'A03', ways: 'session', behaviour: 'activating a group lists its tools and lets them be called' },
  { id: 'A04', ways: 'session', behaviour: 'an activation tells the client that made it exactly once, and no other client' },
  { id: 'A05', ways: 'session', behaviour: 'deactivating a group takes its tools off the list' },
  {
    id: 'A06-1',
    ways: 'session',
    behaviour: 'of two groups that exclude each other the one activated last stays, either way round',
  },
  { id: 'A06-2', ways: 'session', behaviour: 'a group switched off by an exclusion takes the groups inside it along' },
  { id: 'A07-1', ways: 'session', behaviour: 'opening a child before its parent fails and names what to call first' },
  { id: 'A07-2', ways: 'session', behaviour: 'switching a parent off switches its children off' },
  { id: 'A07-3', ways: 'session', behaviour: 'a grandchild needs every ancestor, and goes with the first of them that goes' },
  { id: 'A08-1', ways: 'every', behaviour: 'a conditional tool comes and goes with its predicate' },
  { id: 'A08-2', ways: 'every', behaviour: 'all predicates of one list read the same moment' },
  { id: 'A08-3', ways: 'every', behaviour: 'a predicate that throws hides its own tool, leaves the others, and is reported' },
  { id: 'A09-1', ways: 'session', behaviour: 'the hooks of a group run when it is switched on and off' },
  {
    id: 'A09-2',
    ways: 'session',
    behaviour: 'a hook that fails leaves list and activation as they were, and the answer says why',
  },
  {
    id: 'A09-3',
    ways: 'session',
    behaviour: 'when a later hook fails, what earlier hooks did is undone by their counterparts, last first',
  },
  { id: 'A10', ways: 'session', behaviour: 'code can close a group although no deactivator is shown to the client' },
  {
    id: 'A11',
    ways: 'none',
    behaviour: 'the groups can be listed with description, state, parent, activator and number of tools; a gate is no group',
  },
  { id: 'A12-1', ways: 'every', behaviour: 'every client gets the same order, every time' },
  { id: 'A12-2', ways: 'every', behaviour: 'the pages of a list together hold every tool once, in order' },
  { id: 'A13', ways: 'session', behaviour: 'ten activations at once all take effect' },
  {
    id: 'A14-1',
    ways: 'every',
    behaviour: 'a hybrid server lists its own tools before registered ones and answers calls of both',
  },
  {
    id: 'A14-2',
    ways: 'every',
    behaviour: 'a tool of the server itself wins over a registered one of the same name, and the clash is reported',
  },
  {
    id: 'A15',
    ways: 'every',
    behaviour: 'a plugin loaded or unloaded by a call changes the list of everyone and tells everyone once',
  },
  { id: 'A16', ways: 'every', behaviour: 'a permission granted at run time reveals the tool that waited for it' },
  { id: 'A17', ways: 'every', behaviour: 'registering a tool under the name of an activator is refused and leaves no trace' },
  { id: 'A18', ways: 'session', behaviour: 'with hints on, the answer to a hidden call names the activator to call' },
  { id: 'A19', ways: 'session', behaviour: 'an unknown group is an error that names the known ones' },
  { id: 'A20', ways: 'session', behaviour: 'activating what is active already changes nothing and tells nobody' },
  {
    id: 'A21',
    ways: 'every',
    behaviour: 'a toolbox without groups lists and answers byte for byte as a server written on the SDK alone',
  },
  { id: 'A22', ways: 'session', behaviour: 'the answer of an activator lists the tools that it revealed' },

  { id: 'F01', ways: 'session', behaviour: 'what one client activates, another connected at the same time does not see' },
  { id: 'F02', ways: 'session', behaviour: 'a client that connects after another left starts fresh' },
  {
    id: 'F03',
    ways: 'session',
    behaviour: 'opening and closing a group over and over ends where it began, with one notice for each change',
  },
  { id: 'F04', ways: 'every', behaviour: 'listing tells nobody that the list changed' },
  {
    id: 'F05',
    ways: 'every',
    behaviour: 'a client that may see nothing gets an empty list from a server that still says it has tools',
  },
  {
    id: 'F06',
    ways: 'every',
    behaviour: 'a tool added to or removed from the server outside any call is announced to every client',
  },
  { id: 'F07-1', ways: 'every', behaviour: 'a tool that is filtered from the list cannot be called either' },
  { id: 'F07-2', ways: 'every', behaviour: 'every tool that is listed can be called' },
  { id: 'F08', ways: 'session', behaviour: 'tools made by the library have titles' },
  { id: 'F09', ways: 'session', behaviour: 'a tool of a group that was closed again is answered as if it had never been there' },
  { id: 'F10', ways: 'session', behaviour: 'a session that has not finished its handshake hears of no change' },
  { id: 'F11', ways: 'every', behaviour: 'a server that declares no list changes sends none' },
  { id: 'F12', ways: 'session', behaviour: 'in append order, tools keep their place and newly shown ones come last' },

  { id: 'G01', ways: 'every', behaviour: 'clients of both revisions use one running toolbox at once, each in its own manner' },
  { id: 'G02', ways: 'none', behaviour: 'one HTTP address answers clients of both revisions' },
  { id: 'G03', ways: 'stateless', behaviour: 'the list is byte-identical before and after any call that changes no world state' },
  { id: 'G04', ways: 'stateless', behaviour: 'the list varies with who asks and with nothing else about the connection' },
  { id: 'G05', ways: 'stateless', behaviour: 'a list says how long and by whom it may be kept' },
  { id: 'G06', ways: 'stateless', behaviour: 'a list that depends on who asks may only be kept by them' },
  { id: 'G07-1', ways: 'stateless', behaviour: 'a stream that asked for tool changes hears of them' },
  { id: 'G07-2', ways: 'stateless', behaviour: 'a client that did not ask hears nothing' },
  {
    id: 'G08',
    ways: 'stateless',
    behaviour: 'an activator called by its name changes nothing and answers with the tools of its group',
  },
  { id: 'G09', ways: 'stateless', behaviour: 'no activator is listed, and every permitted tool is' },

  { id: 'R04-1', ways: 'session', behaviour: 'a tool with a group and a predicate is shown only while both hold' },
  { id: 'R04-2', ways: 'session', behaviour: 'a predicate sees which groups the client has active' },

  { id: 'R05-1', ways: 'session', behaviour: 'a default group is active from the start' },
  { id: 'R05-2', ways: 'session', behaviour: 'activating a group brings in all that it needs, however far down' },
  { id: 'R05-3', ways: 'none', behaviour: 'groups that need each other in a circle are refused where they are declared' },
  { id: 'R05-4', ways: 'session', behaviour: 'what needs a group goes when that group goes' },
  { id: 'R05-5', ways: 'session', behaviour: 'a full quota of groups evicts the least recently used and says so' },
  { id: 'R05-6', ways: 'session', behaviour: 'using a tool keeps its group from being evicted first' },
  { id: 'R05-7', ways: 'session', behaviour: 'a token budget evicts as many groups as the new one needs room' },
  { id: 'R05-8', ways: 'session', behaviour: 'a quota that refuses leaves everything as it was and says what to deactivate' },
  { id: 'R05-9', ways: 'session', behaviour: 'a group that could never fit the quota is refused without evicting anything' },
  { id: 'R05-10', ways: 'session', behaviour: 'groups are switched off children first, and on parents first' },
  { id: 'R05-11', ways: 'session', behaviour: 'a transition waits for its hooks; until then the list is the old one' },
  { id: 'R05-12', ways: 'session', behaviour: 'a hook that hangs is given up after its time, and nothing changed' },
  { id: 'R05-13', ways: 'stateless', behaviour: 'a group with hooks is active from start-up, so its tools are listed and run' },
  {
    id: 'R05-14',
    ways: 'session',
    behaviour: 'the tools of a group with hooks never run while it is inactive, even where everything is shown',
  },
  { id: 'R05-15', ways: 'every', behaviour: 'of several versions of a tool the newest is shown' },
  { id: 'R05-16', ways: 'session', behaviour: 'an active group chooses which version of a tool is shown and called' },
  {
    id: 'R05-17',
    ways: 'every',
    behaviour: 'a call by the former name of a renamed tool reaches it, and the former name is not listed',
  },
  { id: 'R05-18', ways: 'session', behaviour: 'the former name of a hidden tool is as hidden as the tool' },
  { id: 'R05-19', ways: 'every', behaviour: 'read-only and destructive tools say so in the list' },
  {
    id: 'R05-20',
    ways: 'session',
    behaviour: 'when a client leaves, the hooks of the groups it had open release what they prepared',
  },
  {
    id: 'R05-21',
    ways: 'session',
    behaviour: 'a default group whose hook fails stays off and is reported, and the client is served',
  },
  {
    id: 'R05-22',
    ways: 'session',
    behaviour: 'a client that leaves while a group is being prepared for it leaves nothing behind',
  },

  {
    id: 'R06-1',
    ways: 'session',
    behaviour: 'activators come first, then declared tools as declared, then registered ones as registered',
  },
  { id: 'R06-2', ways: 'none', behaviour: 'a name used twice within one source is refused' },
  { id: 'R06-3', ways: 'every', behaviour: 'a cursor from before a change is refused with a clear error' },
  { id: 'R06-4', ways: 'every', behaviour: 'a cursor that this server never made is refused with a clear error' },

  { id: 'R07-1', ways: 'none', behaviour: 'tool groups work on their own: activate, deactivate, children, exclusion' },
  { id: 'R07-2', ways: 'none', behaviour: 'tool groups describe themselves as help text' },
  { id: 'R07-3', ways: 'none', behaviour: 'a registry works on its own: register, list, call, unregister' },
  { id: 'R07-4', ways: 'none', behaviour: 'a registry has a tool only while it exists and is visible' },
  { id: 'R07-5', ways: 'none', behaviour: 'unregistering returns the tool, or nothing' },
  { id: 'R07-6', ways: 'none', behaviour: 'a registry on its own answers a hidden tool as an unknown one' },

  {
    id: 'R08-1',
    ways: 'every',
    behaviour: 'input may be described with zod, arktype, valibot or JSON Schema, and the handler gets what they made of it',
  },
  {
    id: 'R08-2',
    ways: 'none',
    behaviour: 'a misspelt group, parent, exclusion or dependency does not compile, and is refused at run time too',
  },
  {
    id: 'R08-3',
    ways: 'session',
    behaviour: 'there is one activator for each group, child groups too, and one deactivate; all stay listed',
  },
  {
    id: 'R08-4',
    ways: 'session',
    behaviour: 'an activator or deactivate written by hand takes the place of the one made for it',
  },
  { id: 'R08-5', ways: 'session', behaviour: 'an activator says which tools it enables' },
  {
    id: 'R08-6',
    ways: 'session',
    behaviour: 'behind one gate the fresh list is exactly activate, and after it everything is listed',
  },
  { id: 'R08-7', ways: 'every', behaviour: 'prompts are served beside the tools' },
  { id: 'R08-8', ways: 'every', behaviour: 'resources are served beside the tools' },
  { id: 'R08-9', ways: 'every', behaviour: 'completions are served beside the tools' },
  { id: 'R08-10', ways: 'every', behaviour: 'a tool can ask the user for input in the midst of a call' },
  { id: 'R08-11', ways: 'session', behaviour: 'tools registered at run time stand behind the gate as well' },

  { id: 'R09-1', ways: 'session', behaviour: 'the activation field of a decorated class is each client’s own' },
  { id: 'R09-2', ways: 'session', behaviour: 'a handler that sets the activation field causes exactly one notice' },
  { id: 'R09-3', ways: 'session', behaviour: 'a handler that activates through the groups field causes exactly one notice' },
  { id: 'R09-4', ways: 'none', behaviour: 'the servers of the source document are written through both front doors' },

  {
    id: 'R11-1',
    ways: 'every',
    behaviour: 'the tools of an existing SDK server can be given groups without changing that server',
  },
  { id: 'R11-2', ways: 'every', behaviour: 'the same holds for a low-level server with list and call handlers of its own' },
  { id: 'R11-3', ways: 'every', behaviour: 'the same holds for a server of the SDK’s version 1' },
  { id: 'R11-4', ways: 'every', behaviour: 'an adopted server still serves its prompts and resources' },

  { id: 'R12-1', ways: 'http stateless', behaviour: 'a parameter header that disagrees with the body is refused' },
  { id: 'R12-2', ways: 'http session', behaviour: 'a session cannot be used by anyone but who opened it' },
  { id: 'R12-3', ways: 'every', behaviour: 'nothing a client reads mentions a tool that does not exist for them' },
  {
    id: 'R12-4',
    ways: 'every',
    behaviour: 'in principal mode an activation belongs to the principal, over all their connections',
  },
  { id: 'R12-5', ways: 'every', behaviour: 'in principal mode an activation is not seen by another principal' },

  { id: 'R13-1', ways: 'session', behaviour: 'groups named in the address are active from the start, with what they lie in' },
  { id: 'R13-2', ways: 'stateless', behaviour: 'groups named in the address, with what is always shown, are the list' },
  { id: 'R13-3', ways: 'every', behaviour: 'tags named in the address show their tools whatever their group' },
  { id: 'R13-4', ways: 'every', behaviour: 'a version pinned in the address is the one shown and called' },
  { id: 'R13-5', ways: 'session', behaviour: 'an address can ask for everything at once, without activators' },
  { id: 'R13-6', ways: 'every', behaviour: 'an address that asks for what does not exist is a clear error' },
  { id: 'R13-7', ways: 'every', behaviour: 'an address can ask for read-only tools alone' },
  { id: 'R13-8', ways: 'every', behaviour: 'groups that exclude each other cannot be asked for together' },
  { id: 'R13-9', ways: 'stateless', behaviour: 'an address can ask for everything, and nothing is hidden then' },
  { id: 'R13-10', ways: 'every', behaviour: 'groups that do not fit the quota cannot be asked for together' },

  { id: 'R14-1', ways: 'none', behaviour: 'the web-standard handler serves both revisions without a socket' },
  { id: 'R14-2', ways: 'none', behaviour: 'serve() speaks over standard input and output unless told otherwise' },
  { id: 'R14-3', ways: 'none', behaviour: 'serve() listens where the command line says and prints the address' },
  { id: 'R14-4', ways: 'http', behaviour: 'a request that names a foreign host is refused' },
  { id: 'R14-5', ways: 'http', behaviour: 'a request from a page of a foreign origin is refused' },
  { id: 'R14-6', ways: 'http', behaviour: 'a body larger than the limit is refused' },
  { id: 'R14-7', ways: 'every', behaviour: 'a message with too many elements is refused, and the next one answered' },
  { id: 'R14-8', ways: 'every', behaviour: 'a message nested too deeply is refused, and the next one answered' },
  { id: 'R14-9', ways: 'http session', behaviour: 'no more sessions are opened than the limit' },
  { id: 'R14-10', ways: 'http session', behaviour: 'a session that nobody uses expires, one that listens does not' },
  { id: 'R14-11', ways: 'none', behaviour: 'the handler can be mounted in an HTTP server of the author’s own' },

  { id: 'R15-1', ways: 'http', behaviour: 'who asks is what authenticate found out, and handlers are told' },
  { id: 'R15-2', ways: 'http', behaviour: 'a refusal by authenticate is sent as it is' },
  { id: 'R15-3', ways: 'every', behaviour: 'what is not permitted is neither listed nor callable, for that principal alone' },
  { id: 'R15-4', ways: 'every', behaviour: 'a permission check that throws permits nothing and is reported' },
  { id: 'R15-5', ways: 'session', behaviour: 'a group with nothing permitted has no activator, and is unknown' },
  {
    id: 'R15-6',
    ways: 'every',
    behaviour: 'a permission given or taken at run time is announced to whom it concerns, and to nobody else',
  },

  {
    id: 'R16-1',
    ways: 'session',
    behaviour: 'where the author asked for it, a principal who reconnects finds what they had active',
  },
  { id: 'R16-2', ways: 'session', behaviour: 'with a file store that also holds after a restart' },
  { id: 'R16-3', ways: 'session', behaviour: 'unless the author asked for it, nothing is remembered' },
  { id: 'R16-4', ways: 'session', behaviour: 'what one principal had active is not found by another, nor by nobody' },
  { id: 'R16-5', ways: 'session', behaviour: 'a store that fails is reported, and clients are served all the same' },

  {
    id: 'R17-1',
    ways: 'session',
    behaviour: 'the policy reveal opens the group of a hidden tool, runs it, says so, and tells once',
  },
  { id: 'R17-2', ways: 'every', behaviour: 'what is not permitted is answered as unknown under every policy' },
  { id: 'R17-3', ways: 'every', behaviour: 'what a false predicate makes unavailable is answered as unknown under every policy' },
  { id: 'R17-4', ways: 'session', behaviour: 'a hint for a tool in a child group names each activator to call, in order' },
  { id: 'R17-5', ways: 'stateless', behaviour: 'a hint for a tool outside the view says how to connect to have it' },
  { id: 'R17-6', ways: 'stateless', behaviour: 'the policy reveal runs a tool outside the view and leaves the list as it is' },

  {
    id: 'R18-1',
    ways: 'session',
    behaviour: 'the answer to a transition names what appeared, with a one-line signature each, and what disappeared',
  },
  {
    id: 'R18-2',
    ways: 'session',
    behaviour: 'the answer to an activation names the child groups that can be opened now, with their activators',
  },
  { id: 'R18-3', ways: 'session', behaviour: 'the answer to a transition carries the same as structured content' },
  {
    id: 'R18-4',
    ways: 'session',
    behaviour: 'the answer to an activation tells a client that does not list again how to call what appeared',
  },

  { id: 'R19-1', ways: 'session', behaviour: 'activating a group that shows nothing new tells nobody' },
  { id: 'R19-2', ways: 'session', behaviour: 'a handler that activates several groups causes one notice' },
  { id: 'R19-3', ways: 'every', behaviour: 'tools registered together are announced together' },
  { id: 'R19-4', ways: 'session', behaviour: 'a change made while another is under way is never lost' },
  {
    id: 'R19-5',
    ways: 'every',
    behaviour: 'reading predicates again from outside a request tells whoever’s view changed, and nobody else',
  },
  { id: 'R19-6', ways: 'session', behaviour: 'a group can be opened and closed for one scope from outside a request' },
  { id: 'R19-7', ways: 'session', behaviour: 'a group can be opened for all that are connected' },
  { id: 'R19-8', ways: 'http session', behaviour: 'a client that opens its stream late is told of the change it missed' },
  { id: 'R19-9', ways: 'every', behaviour: 'a change that is undone before anyone was told is not announced' },
  {
    id: 'R19-10',
    ways: 'http session',
    behaviour: 'a client without a stream of its own is told along with the answer to its call',
  },
  {
    id: 'R19-11',
    ways: 'session',
    behaviour: 'an activation that a handler makes after its call was answered is announced as well',
  },
  { id: 'R19-12', ways: 'every', behaviour: 'in principal mode a group can be opened for a principal, connected or not' },

  {
    id: 'R20-1',
    ways: 'every',
    behaviour: 'the server declares that its list may change, unless its author said that it does not',
  },
  { id: 'R20-2', ways: 'session', behaviour: 'the instructions name each group and the tool that opens it' },
  { id: 'R20-3', ways: 'stateless', behaviour: 'the instructions name the groups and no activator' },
  { id: 'R20-4', ways: 'every', behaviour: 'instructions written by the author are given as they are' },

  { id: 'B01', ways: 'every', behaviour: 'a call without params is refused as invalid params' },
  { id: 'B02', ways: 'every', behaviour: 'a call without a name is refused as invalid params' },
  { id: 'B03', ways: 'every', behaviour: 'a call without arguments is a call with none' },
  { id: 'B04', ways: 'every', behaviour: 'an unknown tool is refused with the nearest names' },
  { id: 'B05', ways: 'every', behaviour: 'of two registries that claim a name the first keeps it, and the clash is reported' },
  { id: 'B06', ways: 'none', behaviour: 'the names of the library’s own tools are reserved' },
  { id: 'B07', ways: 'none', behaviour: 'names that MCP does not allow are refused' },
  { id: 'B08', ways: 'every', behaviour: 'invalid arguments are a result that lists every problem with its path' },
  { id: 'B09', ways: 'every', behaviour: 'keys such as __proto__ reach no prototype' },
  { id: 'B10', ways: 'every', behaviour: 'a handler that throws is a result with its message, and the next call is answered' },
  { id: 'B11', ways: 'every', behaviour: 'a handler that hangs is given up after its time, and the next call is answered' },
  { id: 'B12', ways: 'every', behaviour: 'a handler that returns garbage is a result that says so' },
  { id: 'B13', ways: 'every', behaviour: 'when a client vanishes in the midst of a call other clients go on' },
  { id: 'B14', ways: 'every', behaviour: 'the handler of a call whose client is gone for good is told to stop' },
] as const satisfies readonly Requirement[]

export type RequirementId = (typeof requirements)[number]['id']
