import { visibleParts } from './visible.ts';

/** Shows text from outside: nothing in it stays hidden, changes direction or is read as markup. */
export function Plain({ text }: { readonly text: string }) {
  return (
    <bdi dir="ltr">
      {visibleParts(text).map((part, at) =>
        typeof part === 'string' ? (
          part
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other name
          <span key={at} className="hidden-character" title="A character that cannot be seen">
            {part.codePoint}
          </span>
        ),
      )}
    </bdi>
  );
}
