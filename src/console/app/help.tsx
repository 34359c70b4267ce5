import { useState } from 'react';
import { Panel } from '../parts/dialog.tsx';
import { areShortcutsOn, GO_KEYS, setShortcutsOn } from './shortcuts.ts';
import { applyTheme, storedTheme, THEMES, type Theme } from './theme.ts';

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'find a bet'],
  ['j  k', 'next, previous row'],
  ...Object.entries(GO_KEYS).map(([key, { name }]) => [`g ${key}`, `go to ${name}`] as const),
  ['?', 'this list'],
];

/** The keyboard shortcuts with the switch that turns them off, and the colour theme. */
export function Help({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const [isOn, setOn] = useState(areShortcutsOn);
  return (
    <Panel title="Keys and colours" isOpen={isOpen} onClose={onClose}>
      <dl className="keys">
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => {
            setShortcutsOn(event.target.checked);
            setOn(event.target.checked);
          }}
        />
        Use these keys
      </label>
      <ThemeChoice />
    </Panel>
  );
}

const THEME_NAMES: Readonly<Record<Theme, string>> = {
  auto: 'As the system',
  light: 'Light',
  dark: 'Dark',
};

function ThemeChoice() {
  const [theme, setTheme] = useState(storedTheme);
  return (
    <div className="field">
      <label htmlFor="colours">Colours</label>
      <select
        id="colours"
        value={theme}
        onChange={(event) => {
          const next = THEMES.find((one) => one === event.target.value) ?? 'auto';
          applyTheme(next);
          setTheme(next);
        }}
      >
        {THEMES.map((one) => (
          <option key={one} value={one}>
            {THEME_NAMES[one]}
          </option>
        ))}
      </select>
    </div>
  );
}
