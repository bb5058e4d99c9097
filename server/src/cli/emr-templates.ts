import { Command } from 'commander';
import { readTemplates } from '../config/templates/templates.ts';
import { UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';

export function emrTemplatesCommand(output: Output): Command {
  return new Command('templates')
    .description('List the templates for EHRs of vendors, or print one as a configuration file has it.')
    .argument('[template]', 'name of the template to print, such as hapi')
    .action(async (name: string | undefined) => {
      const templates = await readTemplates();
      if (name === undefined) {
        for (const { name: id, title, tried } of templates) output.out(`${id}  ${title}\n  ${tried}\n`);
        return;
      }
      const template = templates.find((it) => it.name === name);
      if (!template) {
        const names = templates.map((it) => it.name).join(', ');
        throw new UsageError(`There is no template ${name}. The templates are ${names}.`);
      }
      output.out(template.text);
    });
}
