// Shown in the composer until an operation is chosen.

import { make } from '../../model/dom.js';

/** @import { Speak } from '../../model/speak.js' */

/** @param {Speak} speak */
export function welcome({ state: { status, demo } }) {
  if (status === 'ended') return [make('p', {}, 'The conversation has ended. All frames are still here; connect again to start a new one.')];
  if (status !== 'connected') return [make('p', {}, status === 'connecting' ? 'Connecting…' : 'Connect to the server first.')];
  if (!demo) return [make('p', {}, 'Choose a tool, a resource or a prompt on the left, or choose Raw text to send anything you like.')];
  const steps = make('ol', { class: 'steps' },
    make('li', {}, 'Choose a tool on the left, fill in its form and send it.'),
    make('li', {}, 'Send something invalid: faults are marked before you send, and the server’s errors are shown as a table.'),
    make('li', {}, 'Turn on ', make('b', {}, 'misbehave'), ' above and call ', make('code', {}, 'break_rules'), ' to see what plumb reports about a broken server.'));
  return [make('p', {}, 'This server is built into plumb, to try things out.'), steps];
}
