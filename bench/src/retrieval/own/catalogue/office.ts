import type { OwnServer } from '../server.ts'

/** Servers of everyone who has a desk. */
export const office: readonly OwnServer[] = [
  {
    name: 'calendar',
    description: 'Events, invitations and free/busy times',
    tools: [
      {
        name: 'list_events',
        description: 'Lists calendar events between two dates.',
        parameters: { calendar_id: 'Calendar', time_min: 'From', time_max: 'To' },
      },
      {
        name: 'create_event',
        description: 'Creates a calendar event and invites attendees.',
        parameters: { summary: 'Title', start: 'Start', end: 'End', attendees: 'Email addresses', location: 'Location' },
      },
      {
        name: 'update_event',
        description: 'Changes the time, place or attendees of an existing event.',
        parameters: { event_id: 'Event', start: 'New start', end: 'New end', attendees: 'Email addresses' },
      },
      {
        name: 'delete_event',
        description: 'Deletes an event and notifies the attendees.',
        parameters: { event_id: 'Event', notify: 'Whether to notify' },
      },
      {
        name: 'respond_to_event',
        description: 'Accepts, declines or tentatively accepts an invitation.',
        parameters: { event_id: 'Event', response: 'accepted, declined or tentative', comment: 'Comment' },
      },
      {
        name: 'find_free_slots',
        description: 'Finds time slots in which all given participants are free.',
        parameters: { participants: 'Email addresses', duration: 'Minutes', within_days: 'Search window' },
      },
      {
        name: 'set_working_location',
        description: 'Sets home, office or another working location for a day.',
        parameters: { date: 'Day', location: 'home, office or a label' },
      },
    ],
  },
  {
    name: 'mail',
    description: 'Search, read and send email',
    tools: [
      {
        name: 'search_messages',
        description: 'Searches the mailbox by sender, subject, date or text.',
        parameters: { query: 'Search expression', max_results: 'Maximum number' },
      },
      {
        name: 'send_email',
        description: 'Sends an email, optionally with attachments.',
        parameters: { to: 'Recipients', cc: 'Copies', subject: 'Subject', body: 'Text', attachments: 'Files' },
      },
      {
        name: 'create_draft',
        description: 'Saves an unsent email as a draft.',
        parameters: { to: 'Recipients', subject: 'Subject', body: 'Text' },
      },
      {
        name: 'forward_email',
        description: 'Forwards a received email to other recipients.',
        parameters: { message_id: 'Message', to: 'Recipients', note: 'Text above the forwarded message' },
      },
      {
        name: 'set_vacation_responder',
        description: 'Turns the automatic out-of-office reply on or off.',
        parameters: { enabled: 'On or off', subject: 'Subject', body: 'Text', until: 'Last day' },
      },
      {
        name: 'create_filter',
        description: 'Creates a filter that labels, archives or deletes incoming messages.',
        parameters: { from: 'Sender', has_words: 'Words', action: 'label, archive or delete' },
      },
      {
        name: 'report_spam',
        description: 'Moves messages to the spam folder and reports their sender.',
        parameters: { message_ids: 'Messages' },
      },
    ],
  },
  {
    name: 'slack',
    description: 'Channels, messages and users of a Slack workspace',
    tools: [
      {
        name: 'post_message',
        description: 'Posts a message to a channel or as a direct message.',
        parameters: { channel: 'Channel or user', text: 'Text', thread_ts: 'Thread' },
      },
      {
        name: 'get_channel_history',
        description: 'Returns recent messages of a channel.',
        parameters: { channel: 'Channel', oldest: 'From', limit: 'Number of messages' },
      },
      {
        name: 'create_channel',
        description: 'Creates a public or private channel.',
        parameters: { name: 'Name', is_private: 'Whether it is private' },
      },
      {
        name: 'invite_to_channel',
        description: 'Invites users to a channel.',
        parameters: { channel: 'Channel', users: 'User ids' },
      },
      {
        name: 'add_reaction',
        description: 'Adds an emoji reaction to a message.',
        parameters: { channel: 'Channel', timestamp: 'Message', name: 'Emoji' },
      },
      {
        name: 'set_status',
        description: 'Sets the status text and emoji of the user, with optional expiry.',
        parameters: { text: 'Text', emoji: 'Emoji', expires: 'Expiry' },
      },
      {
        name: 'pin_message',
        description: 'Pins a message to its channel.',
        parameters: { channel: 'Channel', timestamp: 'Message' },
      },
    ],
  },
  {
    name: 'notes',
    description: 'Pages, databases and tasks in a team wiki',
    tools: [
      {
        name: 'create_page',
        description: 'Creates a page under a parent page, with Markdown content.',
        parameters: { parent_id: 'Parent', title: 'Title', content: 'Markdown' },
      },
      {
        name: 'append_to_page',
        description: 'Appends blocks at the end of a page.',
        parameters: { page_id: 'Page', content: 'Markdown' },
      },
      {
        name: 'search_pages',
        description: 'Full-text search over pages in the workspace.',
        parameters: { query: 'Search text', limit: 'Maximum number' },
      },
      {
        name: 'archive_page',
        description: 'Archives a page and its subpages. It can be restored for 30 days.',
        parameters: { page_id: 'Page' },
      },
      {
        name: 'create_task',
        description: 'Adds a to-do item with assignee and due date to a board.',
        parameters: { board_id: 'Board', title: 'Title', assignee: 'Assignee', due: 'Due date' },
      },
      {
        name: 'complete_task',
        description: 'Marks a to-do item as done.',
        parameters: { task_id: 'Task' },
      },
      {
        name: 'list_page_versions',
        description: 'Lists the revision history of a page with editors.',
        parameters: { page_id: 'Page' },
      },
    ],
  },
  {
    name: 'drive',
    description: 'Files and folders in cloud storage',
    tools: [
      {
        name: 'search_files',
        description: 'Searches files by name, type, owner or content.',
        parameters: { query: 'Search text', mime_type: 'Type', owner: 'Owner' },
      },
      {
        name: 'share_file',
        description: 'Grants a person or everyone with the link access to a file.',
        parameters: { file_id: 'File', email: 'Person', role: 'reader, commenter or writer' },
      },
      {
        name: 'revoke_access',
        description: 'Removes a permission from a file or folder.',
        parameters: { file_id: 'File', permission_id: 'Permission' },
      },
      {
        name: 'export_file',
        description: 'Converts a document to PDF, DOCX or CSV and downloads it.',
        parameters: { file_id: 'File', format: 'pdf, docx or csv' },
      },
      {
        name: 'move_file',
        description: 'Moves a file to another folder or renames it.',
        parameters: { file_id: 'File', folder_id: 'Folder', name: 'New name' },
      },
      {
        name: 'restore_from_trash',
        description: 'Restores a trashed file to its previous folder.',
        parameters: { file_id: 'File' },
      },
      {
        name: 'get_storage_quota',
        description: 'Returns used and total storage in bytes.',
        parameters: {},
      },
    ],
  },
]
