/** A tool of the upstream servers. */
export interface LabTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown }
}

/** The upstream servers of the gateway under test, by name. Together they exceed the default token budget. */
export type LabServer = keyof typeof servers

type Parameter = readonly [name: string, type: string, description: string, isRequired?: 'required']

const path: Parameter = ['path', 'string', 'Path relative to the shared folder, for example reports/2026/summary.txt', 'required']
const project: Parameter = ['project', 'string', 'Key of the project, for example WEB', 'required']
const issue: Parameter = ['issue', 'string', 'Key of the issue, for example WEB-217', 'required']
const calendar: Parameter = ['calendar', 'string', 'Name of the calendar; the default is the calendar of the current user']
const event: Parameter = ['event', 'string', 'Identifier of the event, as returned by list_events', 'required']
const limit: Parameter = ['limit', 'integer', 'Maximum number of entries to return, between 1 and 200; the default is 50']
const comment: Parameter = ['comment', 'string', 'Text that is stored in the history together with this change']

const files = [
  tool('read_text_file', 'Reads the complete contents of one text file as UTF-8', path, [
    'head',
    'integer',
    'Return only the first lines of the file',
  ]),
  tool('write_text_file', 'Creates a text file, or replaces the contents of an existing one', path, [
    'content',
    'string',
    'The new contents of the file',
    'required',
  ]),
  tool('append_to_file', 'Adds text at the end of a file and creates the file if it does not exist', path, [
    'content',
    'string',
    'The text to add',
    'required',
  ]),
  tool('preview_image', 'Returns a small preview of a picture', path, ['width', 'integer', 'Width of the preview in pixels']),
  tool('list_directory', 'Lists files and folders in one directory with their sizes', path, limit),
  tool('directory_tree', 'Returns a recursive tree of a directory', path, ['depth', 'integer', 'How many levels to descend']),
  tool('make_directory', 'Creates a directory and all missing parents', path),
  tool('move_file', 'Moves or renames a file or a directory', path, [
    'destination',
    'string',
    'The new path, relative to the shared folder',
    'required',
  ]),
  tool('copy_file', 'Copies a file to another place', path, ['destination', 'string', 'Where to put the copy', 'required']),
  tool('delete_file', 'Deletes one file permanently; directories are refused', path, comment),
  tool('file_details', 'Returns size, owner, permissions and modification time of a file', path),
  tool('search_file_names', 'Finds files whose name matches a glob pattern', path, [
    'pattern',
    'string',
    'Glob pattern, for example **/*.pdf',
    'required',
  ]),
  tool('export_audit_log', 'Exports the access log of a file, one line for each access', path, [
    'lines',
    'integer',
    'How many of the latest lines to export',
  ]),
  tool('share_file', 'Creates a link that gives other people access to a file after the owner agreed', path, [
    'expires',
    'string',
    'Date on which the link stops working, as YYYY-MM-DD',
  ]),
]

const tracker = [
  tool(
    'create_issue',
    'Opens a new issue in a project',
    project,
    ['title', 'string', 'One line that says what is wrong', 'required'],
    ['body', 'string', 'Details in Markdown: what happened, what was expected, how to reproduce it'],
  ),
  tool('get_issue', 'Returns one issue with its description, state and assignee', issue),
  tool('close_issue', 'Closes an issue and records the resolution', issue, comment),
  tool('reopen_issue', 'Opens a closed issue again', issue, comment),
  tool('assign_issue', 'Makes a person responsible for an issue', issue, [
    'person',
    'string',
    'Login name of the person',
    'required',
  ]),
  tool('label_issue', 'Adds labels to an issue', issue, ['labels', 'array', 'Names of the labels to add', 'required']),
  tool('comment_on_issue', 'Adds a comment to the discussion of an issue', issue, [
    'body',
    'string',
    'The comment in Markdown',
    'required',
  ]),
  tool(
    'find_issues',
    'Finds issues by state, label, assignee or text',
    project,
    ['query', 'string', 'Words in title or body'],
    ['state', 'string', 'open, closed or all; the default is open'],
    limit,
  ),
  tool('link_issues', 'Records that one issue blocks, duplicates or relates to another', issue, [
    'other',
    'string',
    'Key of the other issue',
    'required',
  ]),
  tool('set_priority', 'Changes the priority of an issue', issue, [
    'priority',
    'string',
    'low, normal, high or urgent',
    'required',
  ]),
  tool('set_due_date', 'Sets the date by which an issue is to be finished', issue, [
    'date',
    'string',
    'Date as YYYY-MM-DD',
    'required',
  ]),
  tool(
    'log_work',
    'Records time that was spent on an issue',
    issue,
    ['minutes', 'integer', 'Time in minutes', 'required'],
    comment,
  ),
  tool('list_projects', 'Lists all projects the current user may see', limit),
  tool('create_milestone', 'Adds a milestone to a project', project, ['title', 'string', 'Name of the milestone', 'required']),
  tool('project_report', 'Summarises open and closed issues of a project by week', project, [
    'weeks',
    'integer',
    'How many weeks to include',
  ]),
  tool('import_issues', 'Creates issues from a CSV document', project, [
    'csv',
    'string',
    'The document with a header line',
    'required',
  ]),
]

const schedule = [
  tool(
    'list_events',
    'Lists the events of a calendar between two dates',
    calendar,
    ['from', 'string', 'First day as YYYY-MM-DD', 'required'],
    ['to', 'string', 'Last day as YYYY-MM-DD', 'required'],
  ),
  tool(
    'create_event',
    'Adds an appointment to a calendar',
    calendar,
    ['title', 'string', 'What the event is about', 'required'],
    ['start', 'string', 'Begin in ISO 8601 with time zone', 'required'],
    ['minutes', 'integer', 'Duration in minutes; the default is 30'],
  ),
  tool('move_event', 'Changes the time of an appointment and notifies all guests', event, [
    'start',
    'string',
    'New begin in ISO 8601 with time zone',
    'required',
  ]),
  tool('cancel_event', 'Removes an appointment and tells all guests why', event, comment),
  tool('invite_guest', 'Invites a person to an appointment', event, [
    'person',
    'string',
    'Mail address of the guest',
    'required',
  ]),
  tool(
    'answer_invitation',
    'Accepts or declines an invitation',
    event,
    ['answer', 'string', 'yes, no or maybe', 'required'],
    comment,
  ),
  tool(
    'find_free_time',
    'Finds times at which all given people are free',
    ['people', 'array', 'Mail addresses of the people', 'required'],
    ['minutes', 'integer', 'How long the meeting takes', 'required'],
  ),
  tool('book_room', 'Reserves a meeting room for an appointment', event, ['room', 'string', 'Name of the room', 'required']),
  tool('list_rooms', 'Lists meeting rooms with their size and equipment', ['seats', 'integer', 'Minimum number of seats'], limit),
  tool('set_reminder', 'Sets how long before an appointment the user is reminded', event, [
    'minutes',
    'integer',
    'Minutes before the begin',
    'required',
  ]),
  tool('working_hours', 'Returns the working hours and holidays of a person', ['person', 'string', 'Mail address', 'required']),
  tool(
    'set_out_of_office',
    'Marks days as absent and declines new invitations on them',
    ['from', 'string', 'First day as YYYY-MM-DD', 'required'],
    ['to', 'string', 'Last day as YYYY-MM-DD', 'required'],
    comment,
  ),
  tool('share_calendar', 'Lets another person see a calendar', ['person', 'string', 'Mail address', 'required'], calendar),
]

/** The tool that a server adds while a host is running. */
export const lateTool = tool('rotate_picture', 'Rotates a picture by a multiple of ninety degrees', path, [
  'degrees',
  'integer',
  '90, 180 or 270',
  'required',
])

const servers = { files, tracker, schedule } satisfies { readonly [name: string]: readonly LabTool[] }

/** Description of each server in the configuration. */
export const descriptions: { readonly [S in LabServer]: string } = {
  files: 'Read, write, search and share the files of the shared folder',
  tracker: 'Issues, milestones and reports of all projects',
  schedule: 'Calendars, appointments, invitations and meeting rooms',
}

export const serverNames = Object.keys(servers) as readonly LabServer[]

/** Returns the tools of a server, in list order. */
export function toolsOf(server: LabServer): readonly LabTool[] {
  return servers[server]
}

function tool(name: string, what: string, ...parameters: readonly Parameter[]): LabTool {
  const properties = parameters.map(([key, type, description]) => [
    key,
    type === 'array' ? { type, items: { type: 'string' }, description } : { type, description },
  ])
  const required = parameters.filter(([, , , isRequired]) => isRequired !== undefined).map(([key]) => key)
  return {
    name,
    description: `${what}. Requires access to the resource; fails with a message that names the missing right otherwise.`,
    inputSchema: { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false },
  }
}
