import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Puts the files of each project in an order that is always the same and otherwise arbitrary. By size, which is the
 * default, tests that wait for deadlines would all run at one time, and tests that compute at another. A project's
 * files stay together, because its processes end with the last of them.
 */
export class MixedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = [...new Set((await super.sort(files)).map(({ project }) => project.name))];
    const key = ({ moduleId, project }: TestSpecification) =>
      createHash('sha256').update(relative(project.config.root, moduleId)).digest('hex');
    return projects.flatMap((name) =>
      files
        .filter(({ project }) => project.name === name)
        .map((file) => ({ file, key: key(file) }))
        .sort((a, b) => (a.key < b.key ? -1 : 1))
        .map(({ file }) => file),
    );
  }
}
