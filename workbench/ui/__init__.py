"""Views that several pages share, listed by purpose.

- around every page: `header_view`, `sign_in_view`, `address`, `unexpected`
- data sets and files: `data_sets_view`, `reopening`, `first_rows_view`, `file_view`,
  `folder_view`, `kept_view`, `link_addresses`
- pieces and choices: `widgets`, `progress_view`, `epsilon_view`, `attacker_view`,
  `questions_view`
- facts about releases and tables: `releases`, `charged`, `verdict`
- the textbook: `examples`, `method_charts`, `notebooks`
"""
