import { html } from '../../html/html.ts';

/** Gives each block of commands a button that copies it. The content security policy allows it by its hash. */
export const copyScript = html`<script>
for (const commands of document.querySelectorAll('.commands')) {
  const line = document.createElement('div');
  const button = document.createElement('button');
  const result = document.createElement('span');
  line.className = 'copy';
  button.type = 'button';
  button.className = 'small secondary';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', 'Copy: ' + commands.getAttribute('aria-label'));
  result.setAttribute('role', 'status');
  result.className = 'quiet';
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(commands.textContent).then(
      () => { result.textContent = 'Copied'; },
      () => { result.textContent = 'The browser does not allow it. Select the text instead.'; },
    );
  });
  line.append(button, result);
  commands.before(line);
}
</script>`;
