// The search of the site: every word must stand in a section of a page; sections whose heading has them come first.
'use strict';
{
  const field = document.getElementById('search');
  const list = document.getElementById('found');
  const article = document.querySelector('article');
  const up = document.body.dataset.up;
  const shownMax = 30;

  const score = ([title, heading, , text], words) => {
    const [top, head, body] = [title, heading, text].map(part => part.toLowerCase());
    let sum = 0;
    for (const word of words) {
      const found = (head.includes(word) ? 20 : 0) + (top.includes(word) ? 5 : 0) + (body.includes(word) ? 1 : 0);
      if (found === 0) return 0;
      sum += found;
    }
    return sum + (words.length > 1 && body.includes(words.join(' ')) ? 10 : 0);
  };

  const excerpt = (text, word) => {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - 60);
    const piece = text.slice(at, at + 200).replace(/\s+/g, ' ').trim();
    return (at > 0 ? '… ' : '') + piece + (at + 200 < text.length ? ' …' : '');
  };

  const row = ([title, heading, url, text], words) => {
    const link = document.createElement('a');
    link.href = up + url;
    link.textContent = heading && heading !== title ? `${title}: ${heading}` : title;
    link.addEventListener('click', () => { field.value = ''; show(); });
    const below = document.createElement('p');
    below.textContent = excerpt(text, words[0]);
    const item = document.createElement('li');
    item.append(link, below);
    return item;
  };

  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.hidden = words.length === 0;
    article.hidden = words.length > 0;
    if (words.length === 0) return;
    const rows = window.searchIndex
      .map(part => [score(part, words), part])
      .filter(([sum]) => sum > 0)
      .sort(([a], [b]) => b - a)
      .slice(0, shownMax);
    list.replaceChildren(...rows.map(([, part]) => row(part, words)));
    if (rows.length === 0) list.textContent = 'Nothing has all of these words.';
  };

  field.addEventListener('input', show);
  document.addEventListener('keydown', event => {
    if (event.key === '/' && document.activeElement !== field) { event.preventDefault(); field.focus(); }
    if (event.key === 'Escape' && document.activeElement === field) { field.value = ''; show(); field.blur(); }
  });
}
